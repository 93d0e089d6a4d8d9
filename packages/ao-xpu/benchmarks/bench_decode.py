"""Decoding of a quantized Llama shape, batch 1, beside the same model in bf16; all on xpu.

Eager steps, and steps replayed from an XPUGraph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from configs import config
from xpu_bench import Case, Pair

BARS = {
    "int4": ">= 2.2",
    "int8 weight-only": ">= 1.6",
    "fp8 weight-only": ">= 1.6",
    "int8 dynamic": ">= 1.0",
    "fp8 row": ">= 1.0",
}


def _step(name: str | None, is_replayed: bool) -> Callable[[], Any]:
    """Return a function that decodes one token; without a name, in bf16."""
    import torch
    from decoder import Decoder
    from torchao.quantization import quantize_

    torch.manual_seed(0)
    model = Decoder().to("xpu", torch.bfloat16).eval().requires_grad_(False)
    if name is not None:
        quantize_(model, config(name))
    token, position = (
        torch.ones(shape, dtype=torch.long, device="xpu") for shape in ((1, 1), (1,))
    )

    @torch.inference_mode()
    def step() -> Any:
        return model(token, position)

    if not is_replayed:
        return step
    step()
    graph = torch.xpu.XPUGraph()
    with torch.inference_mode(), torch.xpu.graph(graph):
        model(token, position)

    def replay() -> None:
        assert step  # has the model and its inputs, which the graph reads and does not keep
        graph.replay()

    return replay


def _case(name: str, is_replayed: bool) -> Case:
    def setup() -> Pair:
        import torch

        ours, peer = _step(name, is_replayed), _step(None, is_replayed)
        return Pair(ours, peer, torch.xpu.synchronize, torch.xpu.synchronize)

    kind = "replayed" if is_replayed else "eager"
    return Case(f"decode: {name}, {kind}", setup, peer_name="torch xpu, bf16", bar=BARS[name])


def cases() -> Iterator[Case]:
    """Yield a step of each config, eager and replayed."""
    for name in BARS:
        for is_replayed in (False, True):
            yield _case(name, is_replayed)
