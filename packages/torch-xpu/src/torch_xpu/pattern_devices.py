"""Patterns of Inductor's frozen graphs that become operators of the CPU, kept away from xpu."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

# What handles the patterns, in PyTorch and in TorchAO.
_HANDLERS_OF_CPU = ("linear_dynamic_fp16_weight_prepack", "scaled_embedding_bag")


def reject_on_xpu(stock: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``register_freezing_graph_pattern`` whose handlers for the CPU match nothing on xpu."""

    @functools.wraps(stock)
    def register_freezing_graph_pattern(
        pattern: Any, extra_check: Callable[[Any], Any] | None = None, pass_number: int = 0
    ) -> Any:
        def register(handler: Any) -> Any:
            if handler.__name__ not in _HANDLERS_OF_CPU:
                checks = {} if extra_check is None else {"extra_check": extra_check}
                return stock(pattern, pass_number=pass_number, **checks)(handler)

            def check(match: Any) -> bool:
                return not _is_on_xpu(match) and (extra_check is None or bool(extra_check(match)))

            return stock(pattern, extra_check=check, pass_number=pass_number)(handler)

        return register

    return register_freezing_graph_pattern


def _is_on_xpu(match: Any) -> bool:
    value = match.output_node().meta.get("val")
    return value is not None and value.device.type == "xpu"
