"""Preparation of graphs with tensors on xpu before Inductor compiles them."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from .associative_scan import scan


def prepare(model: torch.fx.GraphModule) -> None:
    """Replace associative scans on xpu in place."""
    changed = False
    for node in list(_higher_order_calls(model)):
        name = node.target.name()  # type: ignore[union-attr]
        if name == "associative_scan" and _device_type(node.args[1][0]) == "xpu":  # type: ignore[index]
            node.target = scan
            changed = True
    if changed:  # modules of exported programs cannot be compiled anew
        for module in _graph_modules(model):
            module.recompile()


def _graph_modules(model: torch.fx.GraphModule) -> Iterator[torch.fx.GraphModule]:
    return (module for module in model.modules() if isinstance(module, torch.fx.GraphModule))


def _higher_order_calls(model: torch.fx.GraphModule) -> Iterator[torch.fx.Node]:
    for module in _graph_modules(model):
        for node in module.graph.nodes:
            if isinstance(node.target, torch._ops.HigherOrderOperator):
                yield node


def _device_type(node: object) -> str:
    assert isinstance(node, torch.fx.Node)
    value = node.meta.get("val", node.meta.get("example_value"))
    return value.device.type if isinstance(value, torch.Tensor) else ""
