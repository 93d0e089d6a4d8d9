"""Partition rules of loops, branches and shard_maps."""

from __future__ import annotations

from itertools import starmap

from jaxlib.mlir.dialects import sdy

from ..failures import Unsupported
from ..graph import Graph, Node, Value
from .partitioner import Located, Partitioner, partition_rule
from .sharding import DimShardings, Parts


@partition_rule("while")
def loop(partitioner: Partitioner, node: Node) -> None:
    """Partition a loop; its states have the shardings of its results."""
    shardings, unreduced = (
        partitioner.requested_shardings(node),
        partitioner.requested_summands(node),
    )
    inputs = [
        partitioner.reshard(*each) for each in zip(node.inputs, shardings, unreduced, strict=True)
    ]
    condition, body = node.regions
    whether = [partitioner.replicated(value) for value in condition.results]
    regions = [
        partitioner.program(condition, shardings, whether, unreduced),
        partitioner.program(body, shardings, shardings, unreduced, unreduced),
    ]
    _control(partitioner, node, inputs, shardings, unreduced, regions)


@partition_rule("case", "if")
def branch(partitioner: Partitioner, node: Node) -> None:
    """Partition a branch; all regions return the requested shardings."""
    shardings, unreduced = (
        partitioner.requested_shardings(node),
        partitioner.requested_summands(node),
    )
    inputs = [partitioner.reshard(value, partitioner.replicated(value)) for value in node.inputs]
    regions = [partitioner.program(region, [], shardings, [], unreduced) for region in node.regions]
    _control(partitioner, node, inputs, shardings, unreduced, regions)


def _control(
    partitioner: Partitioner,
    node: Node,
    inputs: list[Value],
    shardings: list[DimShardings],
    unreduced: list[Parts],
    regions: list[Graph],
) -> None:
    types = [
        partitioner.type(v, sharding) for v, sharding in zip(node.outputs, shardings, strict=True)
    ]
    local = Node(node.op, inputs, types, {}, regions, node.where)
    partitioner.nodes.append(local)
    located = zip(local.outputs, shardings, unreduced, strict=True)
    partitioner.at.update(zip(node.outputs, starmap(Located, located), strict=True))


@partition_rule("sdy.manual_computation")
def manual(partitioner: Partitioner, node: Node) -> None:
    """Inline a shard_map: a region whose arrays are parts already, over its manual axes.

    In the region, a summand over those axes is an ordinary array.
    """
    given, taken = node.attributes["in_shardings"], node.attributes["out_shardings"]
    manual = frozenset(sdy.ManualAxesAttr(node.attributes["manual_axes"]))
    (region,) = node.regions
    meshes = partitioner.meshes
    for value, inner, outside, inside, unreduced, unreduced_inside in zip(
        node.inputs,
        region.parameters,
        meshes.value_shardings(given),
        meshes.value_shardings(given, manual),
        meshes.summands(given),
        meshes.summands(given, manual),
        strict=True,
    ):
        local = partitioner.reshard(value, outside, unreduced)
        fitting = partitioner.type(inner, inside).shape == local.shape
        if not fitting:
            raise Unsupported(f"shard_map over an array {value.type} that its mesh does not divide")
        partitioner.at[inner] = Located(local, inside, unreduced_inside)
    outer = partitioner.scope
    partitioner.scope = meshes.scope([given, taken], manual, outer)
    partitioner.run(region)
    results = [
        partitioner.reshard(*each)
        for each in zip(
            region.results,
            meshes.value_shardings(taken, manual),
            meshes.summands(taken, manual),
            strict=True,
        )
    ]
    partitioner.scope = outer
    located = zip(results, meshes.value_shardings(taken), meshes.summands(taken), strict=True)
    partitioner.at.update(zip(node.outputs, starmap(Located, located), strict=True))
