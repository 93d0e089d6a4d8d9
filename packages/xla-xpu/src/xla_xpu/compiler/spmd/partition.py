"""Programs over several devices: the one program that each of them runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jaxlib.mlir import ir, passmanager

from ..failures import Unsupported
from ..graph import Graph
from ..import_stablehlo import graph_of, main_of
from . import calls, control, local_ops, resharding  # noqa: F401
from .meshes import Meshes, usable
from .partitioner import Partitioner
from .sharding import DimShardings, Parts, count, op_sharding, unsharded, words_of

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
    graph = graph_of(module, with_shardings=True)
    for node in graph.all_nodes():
        among = node.attributes.get("replica_groups")
        if isinstance(among, ir.Attribute):  # by the axes of a mesh, as JAX says it from 0.12 on
            node.attributes["replica_groups"] = meshes.groups(among)
    main = main_of(module)
    partitioner = Partitioner(meshes)
    given, wanted = (
        [
            usable(sharding, value.shape, partitioner.scope)
            for sharding, value in zip(shardings, values, strict=True)
        ]
        for shardings, values in (
            (_shardings(main, "arg_attrs", graph.parameters, partitioner), graph.parameters),
            (_shardings(main, "res_attrs", graph.results, partitioner), graph.results),
        )
    )
    summands = [
        _unreduced(main, name, values, partitioner)
        for name, values in (("arg_attrs", graph.parameters), ("res_attrs", graph.results))
    ]
    local = partitioner.program(graph, given, wanted, *summands)
    parameters, outputs = (
        list(map(op_sharding, shardings, along))
        for shardings, along in zip((given, wanted), summands, strict=True)
    )
    words = [
        "" if count(along) > 1 else words_of(sharding)
        for sharding, along in zip(given, summands[0], strict=True)
    ]
    return Partitioned(local, parameters, outputs, words)


def _unreduced(
    main: ir.Operation, name: str, values: list[Any], partitioner: Partitioner
) -> list[Parts]:
    """Of each value, which of the arrays that it is the sum of a partition has."""
    if name not in main.attributes:
        return [unsharded(partitioner.meshes.partitions)] * len(values)
    return [
        partitioner.meshes.unreduced(names["sdy.sharding"])
        if "sdy.sharding" in names
        else unsharded(partitioner.meshes.partitions)
        for names in map(ir.DictAttr, ir.ArrayAttr(main.attributes[name]))
    ]


def _shardings(
    main: ir.Operation, name: str, values: list[Any], partitioner: Partitioner
) -> list[DimShardings]:
    attributes: Any = [None] * len(values)
    if name in main.attributes:
        attributes = [ir.DictAttr(each) for each in ir.ArrayAttr(main.attributes[name])]
    shardings = []
    for value, names in zip(values, attributes, strict=True):
        if names is None or "sdy.sharding" not in names:
            shardings.append(partitioner.replicated(value))
        else:
            shardings.append(partitioner.meshes.dim_shardings(names["sdy.sharding"]))
    return shardings
