"""Partition rules of Python functions, which run in the program or during its compilation."""

from __future__ import annotations

from jaxlib.xla_client import HloSharding

from ...rules import inspection
from ...rules.callbacks import PARTS
from ..graph import Graph, Node, Value
from ..types import TOKEN
from . import custom
from .partitioner import Located, Partitioner, partition_rule
from .sharding import DimShardings, count, proto_of


@partition_rule("custom_call@xpu_python_callback", "custom_call@xpu_buffer_callback")
def callback(partitioner: Partitioner, node: Node) -> None:
    """Partition a callback: every device calls it with its parts, or with whole arrays."""
    attribute = node.attributes.get("sdy.sharding")
    one = None if attribute is None else partitioner.meshes.only_device(attribute)
    if PARTS in node.attributes["backend_config"]:
        inputs = [
            partitioner.reshard(value, partitioner.at[value].sharding) for value in node.inputs
        ]
    else:
        inputs = [
            partitioner.reshard(value, partitioner.replicated(value)) for value in node.inputs
        ]
    types = [value.type for value in node.outputs]
    call = Node(node.op, inputs, types, dict(node.attributes), where=node.where)
    call.mlir = node.mlir
    partitioner.nodes.append(call)
    results = call.outputs
    if one is not None:
        call.attributes["device"] = one
        others = [number for number in range(partitioner.meshes.partitions) if number != one]
        results = [
            value
            if value.type.element is TOKEN
            else partitioner.add(
                "collective_broadcast", [value], value.type, groups=[[one, *others]]
            )
            for value in call.outputs
        ]
    for value, result in zip(node.outputs, results, strict=True):
        partitioner.at[value] = Located(result, partitioner.replicated(value), partitioner.reduced)


@partition_rule(f"custom_call@{custom.TARGET}")
def by_its_own_rule(partitioner: Partitioner, node: Node) -> None:
    """Insert the program of each device, which the user's function supplies."""
    graph, given, taken = custom.partitioned(
        node,
        [partitioner.at[value].sharding for value in node.inputs],
        partitioner.requested_shardings(node),
        partitioner.meshes.partitions,
    )
    parts = [partitioner.reshard(value, to) for value, to in zip(node.inputs, given, strict=True)]
    known = dict(zip(graph.parameters, parts, strict=True))
    _replace(graph, known)
    partitioner.nodes += graph.nodes
    for value, result, sharding in zip(node.outputs, graph.results, taken, strict=True):
        partitioner.at[value] = Located(result, sharding, partitioner.reduced)


def _replace(graph: Graph, known: dict[Value, Value]) -> None:
    """Replace values that a graph reads."""
    for node in graph.nodes:
        node.inputs = [known.get(value, value) for value in node.inputs]
        for region in node.regions:
            _replace(region, known)
    graph.results = [known.get(value, value) for value in graph.results]


@partition_rule(f"custom_call@{inspection.TARGET}")
def inspect(partitioner: Partitioner, node: Node) -> None:
    """Call a function with the sharding of an array; add nothing to the program."""
    (value,) = node.inputs
    if count(partitioner.scope) > 1:
        sharding = HloSharding.manual()
    else:
        sharding = HloSharding.from_proto(proto_of(_chosen_sharding(partitioner, value)))
    inspection.notify(int(node.attributes["backend_config"]), sharding)


def _chosen_sharding(partitioner: Partitioner, value: Value) -> DimShardings:
    """Return the sharding that Shardy chose, even if devices compute more than their part."""
    if value.node and "sdy.sharding" in value.node.attributes:
        return partitioner.requested_shardings(value.node)[value.index]
    return partitioner.at[value].sharding
