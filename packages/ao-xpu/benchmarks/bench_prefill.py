"""A quantized linear layer of 4096 by 4096 under 512 rows of bf16, beside the same layer in bf16 on xpu."""

from __future__ import annotations

from collections.abc import Iterator

from configs import config
from xpu_bench import Case, Pair

BARS = {
    "int4": ">= 0.95",
    "int8 weight-only": ">= 0.95",
    "fp8 weight-only": None,
    "int8 dynamic": ">= 1.3",
    "fp8 row": ">= 0.8",
}


def _case(name: str, bar: str | None) -> Case:
    def setup() -> Pair:
        import torch
        from torchao.quantization import quantize_

        torch.manual_seed(0)
        plain, quantized = (
            torch.nn.Linear(4096, 4096, False, "xpu", torch.bfloat16).requires_grad_(False)
            for _ in range(2)
        )
        quantize_(quantized, config(name))
        x = torch.randn(512, 4096, device="xpu", dtype=torch.bfloat16)
        wait = torch.xpu.synchronize
        return Pair(lambda: quantized(x), lambda: plain(x), wait, wait)

    return Case(f"prefill: {name}", setup, peer_name="torch xpu, bf16", bar=bar)


def cases() -> Iterator[Case]:
    """Yield a layer for each config."""
    for name, bar in BARS.items():
        yield _case(name, bar)
