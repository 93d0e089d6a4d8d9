"""Quantizing a Llama shape of 300 M parameters beside torchao on the CPU; building the model is not timed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from configs import config
from xpu_bench import Case, Pair


def _quantizes(name: str, device: str) -> Callable[[], float]:
    import torch
    from decoder import Decoder
    from torchao.quantization import quantize_

    def run() -> float:
        model = Decoder().to(device, torch.bfloat16).requires_grad_(False)
        torch.xpu.synchronize()
        start = time.perf_counter()
        quantize_(model, config(name))
        torch.xpu.synchronize()
        return time.perf_counter() - start

    return run


def _case(name: str) -> Case:
    def setup() -> Pair:
        return Pair(
            ours=_quantizes(name, "xpu"), peer=_quantizes(name, "cpu"), self_timed=True, inner=1
        )

    return Case(f"quantize: {name}", setup, "torchao, CPU", bar=">= 1.0", repetitions=5)


def cases() -> Iterator[Case]:
    """Yield the configs that the CPU quantizes, too."""
    for name in ("int8 weight-only", "fp8 weight-only"):
        yield _case(name)
