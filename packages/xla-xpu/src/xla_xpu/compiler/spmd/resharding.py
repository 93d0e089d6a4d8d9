"""Partition rules of constants, and of shardings that the program requests."""

from __future__ import annotations

from ..failures import Unsupported
from ..graph import Node
from ..splats import is_splat
from .partitioner import Located, Partitioner, partition_rule


@partition_rule("constant")
def constant(partitioner: Partitioner, node: Node) -> None:
    """Partition splats as requested; replicate other constants."""
    (wanted,) = partitioner.requested_shardings(node)
    sharding = wanted if is_splat(node.output) else partitioner.replicated(node.output)
    value = node.attributes["value"]
    local = partitioner.add("constant", [], partitioner.type(node.output, sharding), value=value)
    partitioner.at[node.output] = Located(local, sharding, partitioner.reduced)


@partition_rule(
    "sdy.reshard",
    "sdy.sharding_constraint",
    "sdy.all_gather",
    "sdy.all_reduce",
    "sdy.all_slice",
    "sdy.all_to_all",
    "sdy.collective_permute",
    "sdy.reduce_scatter",
    "sdy.replicated_to_unreduced",
    "sdy.sharded_to_unreduced",
)
def reshard(partitioner: Partitioner, node: Node) -> None:
    """Reshard a value as the program requests."""
    (value,) = node.inputs
    sharding = node.attributes.get("sharding") or node.attributes["out_sharding"]
    target = partitioner.fit(partitioner.meshes.dim_shardings(sharding), value)
    unreduced = partitioner.meshes.unreduced(sharding)
    local = partitioner.reshard(value, target, unreduced)
    partitioner.at[node.output] = Located(local, target, unreduced)


@partition_rule("sdy.propagation_barrier")
def identity(partitioner: Partitioner, node: Node) -> None:
    """Forward the operands."""
    for value, output in zip(node.inputs, node.outputs, strict=True):
        partitioner.at[output] = partitioner.at[value]


@partition_rule("custom_call@dce_sink")
def dce_sink(partitioner: Partitioner, node: Node) -> None:
    """Keep the operands alive, with the shardings that they have."""
    inputs = [partitioner.at[value].local for value in node.inputs]
    sink = Node(node.op, inputs, [], {}, where=node.where)
    sink.mlir = node.mlir
    partitioner.nodes.append(sink)


@partition_rule("sdy.sharding_group")
def group(partitioner: Partitioner, node: Node) -> None:
    """Add nothing: only Shardy's propagation uses the group."""


@partition_rule("sdy.named_computation")
def reject(partitioner: Partitioner, node: Node) -> None:
    """Reject an operation that JAX does not emit here."""
    raise Unsupported(f"{node.op} in a program over several devices is not supported on xpu")
