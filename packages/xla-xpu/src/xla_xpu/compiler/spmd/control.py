"""Loops, branches and shard_maps: operations with programs of their own."""

from __future__ import annotations

from itertools import starmap

from jaxlib.mlir.dialects import sdy

from ..failures import Unsupported
from ..graph import Graph, Node, Value
from .layout import Layout, Parts
from .spread import Located, Spreader, spreads


@spreads("while")
def loop(spreader: Spreader, node: Node) -> None:
    """What goes round it lies as its results are wanted."""
    layouts, unreduced = spreader.wanted(node), spreader.wanted_unreduced(node)
    inputs = [spreader.held(*each) for each in zip(node.inputs, layouts, unreduced, strict=True)]
    condition, body = node.regions
    whether = [spreader.nothing(value) for value in condition.results]
    regions = [
        spreader.program(condition, layouts, whether, unreduced),
        spreader.program(body, layouts, layouts, unreduced, unreduced),
    ]
    _control(spreader, node, inputs, layouts, unreduced, regions)


@spreads("case", "if")
def branch(spreader: Spreader, node: Node) -> None:
    """All give their results as they are wanted."""
    layouts, unreduced = spreader.wanted(node), spreader.wanted_unreduced(node)
    inputs = [spreader.held(value, spreader.nothing(value)) for value in node.inputs]
    regions = [spreader.program(region, [], layouts, [], unreduced) for region in node.regions]
    _control(spreader, node, inputs, layouts, unreduced, regions)


def _control(
    spreader: Spreader,
    node: Node,
    inputs: list[Value],
    layouts: list[Layout],
    unreduced: list[Parts],
    regions: list[Graph],
) -> None:
    types = [spreader.type(v, layout) for v, layout in zip(node.outputs, layouts, strict=True)]
    local = Node(node.op, inputs, types, {}, regions, node.where)
    spreader.nodes.append(local)
    located = zip(local.outputs, layouts, unreduced, strict=True)
    spreader.at.update(zip(node.outputs, starmap(Located, located), strict=True))


@spreads("sdy.manual_computation")
def manual(spreader: Spreader, node: Node) -> None:
    """A shard_map: a region whose arrays are parts already, over the axes that it has to itself.

    A summand over those axes is an array like any other in the region.
    """
    given, taken = node.attributes["in_shardings"], node.attributes["out_shardings"]
    manual = frozenset(sdy.ManualAxesAttr(node.attributes["manual_axes"]))
    (region,) = node.regions
    meshes = spreader.meshes
    for value, inner, outside, inside, unreduced, unreduced_inside in zip(
        node.inputs,
        region.parameters,
        meshes.layouts(given),
        meshes.layouts(given, manual),
        meshes.summands(given),
        meshes.summands(given, manual),
        strict=True,
    ):
        local = spreader.held(value, outside, unreduced)
        fitting = spreader.type(inner, inside).shape == local.shape
        if not fitting:
            raise Unsupported(f"shard_map over an array {value.type} that its mesh does not divide")
        spreader.at[inner] = Located(local, inside, unreduced_inside)
    outer = spreader.scope
    spreader.scope = meshes.scope([given, taken], manual, outer)
    spreader.run(region)
    results = [
        spreader.held(*each)
        for each in zip(
            region.results,
            meshes.layouts(taken, manual),
            meshes.summands(taken, manual),
            strict=True,
        )
    ]
    spreader.scope = outer
    located = zip(results, meshes.layouts(taken), meshes.summands(taken), strict=True)
    spreader.at.update(zip(node.outputs, starmap(Located, located), strict=True))
