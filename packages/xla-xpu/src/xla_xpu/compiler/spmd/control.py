"""Loops, branches and shard_maps: operations with programs of their own."""

from __future__ import annotations

from jaxlib.mlir.dialects import sdy

from ..failures import Unsupported
from ..graph import Graph, Node, Value
from .layout import Layout
from .spread import Spreader, spreads


@spreads("while")
def loop(spreader: Spreader, node: Node) -> None:
    """What goes round it lies as its results are wanted."""
    layouts = spreader.wanted(node)
    inputs = [spreader.held(v, layout) for v, layout in zip(node.inputs, layouts, strict=True)]
    condition, body = node.regions
    whether = [spreader.nothing(value) for value in condition.results]
    regions = [
        spreader.program(condition, layouts, whether),
        spreader.program(body, layouts, layouts),
    ]
    _control(spreader, node, inputs, layouts, regions)


@spreads("case", "if")
def branch(spreader: Spreader, node: Node) -> None:
    """All give their results as they are wanted."""
    layouts = spreader.wanted(node)
    inputs = [spreader.held(value, spreader.nothing(value)) for value in node.inputs]
    regions = [spreader.program(region, [], layouts) for region in node.regions]
    _control(spreader, node, inputs, layouts, regions)


def _control(
    spreader: Spreader,
    node: Node,
    inputs: list[Value],
    layouts: list[Layout],
    regions: list[Graph],
) -> None:
    types = [spreader.type(v, layout) for v, layout in zip(node.outputs, layouts, strict=True)]
    local = Node(node.op, inputs, types, {}, regions, node.where)
    spreader.nodes.append(local)
    for value, result, layout in zip(node.outputs, local.outputs, layouts, strict=True):
        spreader.at[value] = (result, layout)


@spreads("sdy.manual_computation")
def manual(spreader: Spreader, node: Node) -> None:
    """A shard_map: a region whose arrays are parts already, over the axes that it has to itself."""
    given, taken = node.attributes["in_shardings"], node.attributes["out_shardings"]
    manual = frozenset(sdy.ManualAxesAttr(node.attributes["manual_axes"]))
    (region,) = node.regions
    free = spreader.meshes.layouts(given, manual)
    unreduced = spreader.meshes.summands(given)
    for value, inner, outside, inside in zip(
        node.inputs, region.parameters, spreader.meshes.layouts(given), free, strict=True
    ):
        local = spreader.held(value, outside)
        fitting = spreader.type(inner, inside).shape == local.shape
        if not fitting:
            raise Unsupported(f"shard_map over an array {value.type} that its mesh does not divide")
        along = unreduced.pop(0)
        spreader.at[inner] = (spreader.summand(local, along), inside)
    outer = spreader.scope
    spreader.scope = spreader.meshes.scope([given, taken], manual, outer)
    spreader.run(region)
    results = [
        spreader.held(value, inside)
        for value, inside in zip(
            region.results, spreader.meshes.layouts(taken, manual), strict=True
        )
    ]
    spreader.scope = outer
    for value, result, layout, along in zip(
        node.outputs,
        results,
        spreader.meshes.layouts(taken),
        spreader.meshes.summands(taken),
        strict=True,
    ):
        spreader.at[value] = (spreader.sum_of(result, layout, along), layout)
