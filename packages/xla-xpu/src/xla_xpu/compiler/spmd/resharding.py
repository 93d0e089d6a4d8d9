"""Where values lie: constants, and shardings that the program asks for."""

from __future__ import annotations

from ..failures import Unsupported
from ..graph import Node
from ..splats import is_splat
from .partitioner import Located, Partitioner, partition_rule


@partition_rule("constant")
def constant(partitioner: Partitioner, node: Node) -> None:
    """One number is the same in every part; other constants all devices have all of."""
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
    """A sharding that the program asks for."""
    (value,) = node.inputs
    sharding = node.attributes.get("sharding") or node.attributes["out_sharding"]
    target = partitioner.fit(partitioner.meshes.dim_shardings(sharding), value)
    unreduced = partitioner.meshes.unreduced(sharding)
    local = partitioner.reshard(value, target, unreduced)
    partitioner.at[node.output] = Located(local, target, unreduced)


@partition_rule("sdy.propagation_barrier")
def identity(partitioner: Partitioner, node: Node) -> None:
    """Nothing of its own."""
    for value, output in zip(node.inputs, node.outputs, strict=True):
        partitioner.at[output] = partitioner.at[value]


@partition_rule("custom_call@dce_sink")
def dce_sink(partitioner: Partitioner, node: Node) -> None:
    """Computes the parts of its operands wherever they are."""
    inputs = [partitioner.at[value].local for value in node.inputs]
    sink = Node(node.op, inputs, [], {}, where=node.where)
    sink.mlir = node.mlir
    partitioner.nodes.append(sink)


@partition_rule("sdy.sharding_group")
def group(partitioner: Partitioner, node: Node) -> None:
    """Heard by Shardy's propagation."""


@partition_rule("sdy.named_computation")
def reject(partitioner: Partitioner, node: Node) -> None:
    """What no program of JAX has here."""
    raise Unsupported(f"{node.op} in a program over several devices is not supported on xpu")
