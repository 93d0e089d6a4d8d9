"""Lowerings of annotations, which compute nothing."""

from __future__ import annotations

from ..failures import Unsupported
from ..graph import Node
from ..lower import Lowerer, lowering


@lowering(
    "custom_call@Sharding",
    "custom_call@SPMDFullToShardShape",
    "custom_call@SPMDShardToFullShape",
    "custom_call@LayoutConstraint",
    "custom_call@annotate_device_placement",
)
def annotation(lowerer: Lowerer, node: Node) -> None:
    """Forward the operand: placement and layout have been handled already."""
    if node.inputs[0].type != node.output.type:
        raise Unsupported(f"{node.op} over several devices is not supported on xpu")
    for value, output in zip(node.inputs, node.outputs, strict=True):
        lowerer.copy(lowerer.result(output), lowerer.materialize(value))
