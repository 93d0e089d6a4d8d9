"""What devices do together, where each is alone in its group; and annotations, which do nothing."""

from __future__ import annotations

import numpy as np

from ..failures import Unsupported
from ..graph import Node
from ..lower import Lowerer, lowering


@lowering("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "collective_broadcast")
def collective(lowerer: Lowerer, node: Node) -> None:
    """What a group of one device gives is what it has."""
    if any(len(group) != 1 for group in node.attributes["replica_groups"]):
        raise Unsupported(f"{node.op} between several devices is not supported on xpu")
    unchanged(lowerer, node)


@lowering("collective_permute")
def permute(lowerer: Lowerer, node: Node) -> None:
    """Nobody sends to a device that is not named: it gets zeros."""
    pairs = node.attributes["source_target_pairs"]
    if pairs == [[0, 0]] and lowerer.participants == 1:
        unchanged(lowerer, node)
    elif not pairs:
        zeros(lowerer, node)
    else:
        raise Unsupported(f"{node.op} between several devices is not supported on xpu")


@lowering("partition_id", "replica_id")
def number(lowerer: Lowerer, node: Node) -> None:
    """The only one's."""
    if lowerer.participants != 1:
        raise Unsupported(f"{node.op} of several devices is not supported on xpu")
    zeros(lowerer, node)


@lowering(
    "custom_call@Sharding",
    "custom_call@SPMDFullToShardShape",
    "custom_call@SPMDShardToFullShape",
    "custom_call@LayoutConstraint",
    "custom_call@annotate_device_placement",
)
def annotation(lowerer: Lowerer, node: Node) -> None:
    """Says where an array should be, or how it should lie."""
    if node.inputs[0].type != node.output.type:
        raise Unsupported(f"{node.op} over several devices is not supported on xpu")
    unchanged(lowerer, node)


def unchanged(lowerer: Lowerer, node: Node) -> None:
    """The results are the inputs."""
    for value, output in zip(node.inputs, node.outputs, strict=True):
        lowerer.copy(lowerer.result(output), lowerer.place(value))


def zeros(lowerer: Lowerer, node: Node) -> None:
    """The result is 0."""
    type = node.output.type
    zero = {"value": np.zeros(1, type.element.numpy)}
    constant = Node("constant", [], [type], zero).output
    lowerer.fill(constant, lowerer.result(node.output))
