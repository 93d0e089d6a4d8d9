"""Patterns of Inductor's frozen graphs that become operators without a kernel for xpu, kept away from it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

from . import quantized_ranges

# What handles the patterns, in PyTorch and in TorchAO.
_HANDLERS_OF_CPU = ("linear_dynamic_fp16_weight_prepack", "scaled_embedding_bag")
# These have kernels for weights of int8, not of float8.
_HANDLERS_OF_WEIGHTS = ("qlinear_weight_prepack", "qconv_weight_prepack")


def reject_on_xpu(stock: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``register_freezing_graph_pattern`` whose handlers match nothing on xpu that it cannot run."""

    @functools.wraps(stock)
    def register_freezing_graph_pattern(
        pattern: Any, extra_check: Callable[[Any], Any] | None = None, pass_number: int = 0
    ) -> Any:
        def register(handler: Any) -> Any:
            def check(match: Any) -> bool:
                if _is_on_xpu(match) and not _has_kernel(handler.__name__, match):
                    return False
                return extra_check is None or bool(extra_check(match))

            @functools.wraps(handler)
            def replace(match: Any, *args: Any, **kwargs: Any) -> Any:
                if not _is_on_xpu(match):
                    return handler(match, *args, **kwargs)
                graph = match.graph
                quantized_ranges.mark(graph)
                result = handler(match, *args, **kwargs)
                quantized_ranges.mark(graph)
                return result

            return stock(pattern, extra_check=check, pass_number=pass_number)(replace)

        return register

    return register_freezing_graph_pattern


def _has_kernel(handler: str, match: Any) -> bool:
    if handler in _HANDLERS_OF_WEIGHTS:
        weight = match.kwargs["q_weight"].meta.get("val")
        return weight is None or weight.dtype == torch.int8
    return handler not in _HANDLERS_OF_CPU


def _is_on_xpu(match: Any) -> bool:
    value = match.output_node().meta.get("val")
    return isinstance(value, torch.Tensor) and value.device.type == "xpu"
