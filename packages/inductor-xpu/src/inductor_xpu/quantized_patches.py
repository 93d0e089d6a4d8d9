"""What is changed in PyTorch for models that PT2E quantized: a part of the table of patches.py."""

from __future__ import annotations

import functools
from typing import Any

from .patch import Patch


def _quantized_lowerings(stock: Any) -> Any:
    from .quantized import replace_lowerings

    return replace_lowerings(stock)


def _quantized_pooling(stock: Any) -> Any:
    @functools.wraps(stock)
    def _is_valid_quantized_maxpool2d_optimization_pattern() -> Any:
        is_valid = stock()

        def check(match: Any) -> bool:
            return match.kwargs["x"].meta["val"].device.type != "xpu" and bool(is_valid(match))

        return check

    return _is_valid_quantized_maxpool2d_optimization_pattern


def _frozen_patterns(stock: Any) -> Any:
    from torch_xpu.pattern_devices import reject_on_xpu

    return reject_on_xpu(stock)


QUANTIZED_PATCHES = (
    Patch(
        "torch._inductor.lowering",
        "lowerings",
        "keeps scales of quantized layers that are numbers on the CPU, and adds products to inputs in place",
        _quantized_lowerings,
    ),
    Patch(
        "torch._inductor.fx_passes.quantization",
        "_is_valid_quantized_maxpool2d_optimization_pattern",
        "calls an operator of the CPU; the kernel of a pooling reads and writes bytes by itself",
        _quantized_pooling,
    ),
    Patch(
        "torch._inductor.fx_passes.quantization",
        "register_freezing_graph_pattern",
        "calls an operator of the CPU for weights of fp16",
        _frozen_patterns,
    ),
)
