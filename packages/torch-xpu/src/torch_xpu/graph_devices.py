"""Whether a graph that Dynamo traced has tensors on xpu."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch


def uses_xpu(model: torch.fx.GraphModule, inputs: Sequence[Any]) -> bool:
    """Return True if an input, a parameter, a buffer or a value in the graph is on xpu."""
    return any(map(_is_on_xpu, _values(model, inputs)))


def _values(model: torch.fx.GraphModule, inputs: Sequence[Any]) -> Iterator[Any]:
    yield from inputs
    yield from model.parameters()
    yield from model.buffers()
    for node in model.graph.nodes:
        seen = node.meta.get("val", node.meta.get("example_value"))
        yield from seen if isinstance(seen, (tuple, list)) else (seen,)


def _is_on_xpu(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.device.type == "xpu"
