"""Programs over several devices: the one program that each of them runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jaxlib.mlir import ir, passmanager

from ..failures import Unsupported
from ..graph import Graph
from ..read import graph_of, main_of
from . import alike, calls, control, moves  # noqa: F401
from .layout import Layout, Parts, count, op_sharding, whole, words_of
from .meshes import Meshes, usable
from .spread import Spreader

_PROPAGATE = "builtin.module(sdy-propagation-pipeline)"


@dataclass
class Partitioned:
    """A local graph, with serialized xla.OpSharding of what goes in and comes out.

    ``words``: those of the parameters as HLO writes them, empty for summands.
    """

    graph: Graph
    parameters: list[bytes]
    outputs: list[bytes]
    words: list[str]


def needs_partition(module: ir.Module, partitions: int) -> bool:
    """Whether a program has arrays that are spread, if only over one device."""
    return partitions > 1 or "sdy.manual_computation" in str(module)


def partition(module: ir.Module, partitions: int) -> Partitioned:
    """The program of each device."""
    text = str(module)
    if "@Sharding" in text or "@SPMDFullToShardShape" in text or "mhlo.sharding" in text:
        raise Unsupported(
            "a program over several xpu devices whose shardings are GSPMD's; leave "
            "jax_use_shardy_partitioner at its default, True"
        )
    with module.context:
        passmanager.PassManager.parse(_PROPAGATE).run(module.operation)
    meshes = Meshes(module, partitions)
    graph = graph_of(module, spread=True)
    for node in graph.all_nodes():
        among = node.attributes.get("replica_groups")
        if isinstance(among, ir.Attribute):  # by the axes of a mesh, as JAX says it from 0.12 on
            node.attributes["replica_groups"] = meshes.groups(among)
    main = main_of(module)
    spreader = Spreader(meshes)
    given, wanted = (
        [
            usable(layout, value.shape, spreader.scope)
            for layout, value in zip(layouts, values, strict=True)
        ]
        for layouts, values in (
            (_layouts(main, "arg_attrs", graph.parameters, spreader), graph.parameters),
            (_layouts(main, "res_attrs", graph.results, spreader), graph.results),
        )
    )
    summands = [
        _unreduced(main, name, values, spreader)
        for name, values in (("arg_attrs", graph.parameters), ("res_attrs", graph.results))
    ]
    local = spreader.program(graph, given, wanted, *summands)
    parameters, outputs = (
        list(map(op_sharding, layouts, along))
        for layouts, along in zip((given, wanted), summands, strict=True)
    )
    words = [
        "" if count(along) > 1 else words_of(layout)
        for layout, along in zip(given, summands[0], strict=True)
    ]
    return Partitioned(local, parameters, outputs, words)


def _unreduced(main: ir.Operation, name: str, values: list[Any], spreader: Spreader) -> list[Parts]:
    """Of each value, which of the arrays that it is the sum of a partition has."""
    if name not in main.attributes:
        return [whole(spreader.meshes.partitions)] * len(values)
    return [
        spreader.meshes.unreduced(names["sdy.sharding"])
        if "sdy.sharding" in names
        else whole(spreader.meshes.partitions)
        for names in map(ir.DictAttr, ir.ArrayAttr(main.attributes[name]))
    ]


def _layouts(main: ir.Operation, name: str, values: list[Any], spreader: Spreader) -> list[Layout]:
    attributes: Any = [None] * len(values)
    if name in main.attributes:
        attributes = [ir.DictAttr(each) for each in ir.ArrayAttr(main.attributes[name])]
    layouts = []
    for value, names in zip(values, attributes, strict=True):
        if names is None or "sdy.sharding" not in names:
            layouts.append(spreader.nothing(value))
        else:
            layouts.append(spreader.meshes.layout(names["sdy.sharding"]))
    return layouts
