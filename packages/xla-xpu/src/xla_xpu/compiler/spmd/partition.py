"""Partition a program over several devices."""

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
from .sharding import DimShardings, Parts, count, hlo_text_of, op_sharding, unsharded

_PROPAGATE = "builtin.module(sdy-propagation-pipeline)"


@dataclass
class Partitioned:
    """The graph of each device, with the serialized xla.OpSharding of parameters and outputs.

    ``hlo_shardings``: HLO's text of the parameters' shardings, empty for unreduced ones.
    """

    graph: Graph
    parameters: list[bytes]
    outputs: list[bytes]
    hlo_shardings: list[str]


def needs_partition(module: ir.Module, partitions: int) -> bool:
    """Return True if a program has sharded arrays, even over one device only."""
    return partitions > 1 or "sdy.manual_computation" in str(module)


def partition(module: ir.Module, partitions: int) -> Partitioned:
    """Return the program of each device."""
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
        if isinstance(among, ir.Attribute):  # axes of a mesh, from JAX 0.12 on
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
    hlo_shardings = [
        "" if count(along) > 1 else hlo_text_of(sharding)
        for sharding, along in zip(given, summands[0], strict=True)
    ]
    return Partitioned(local, parameters, outputs, hlo_shardings)


def _unreduced(
    main: ir.Operation, name: str, values: list[Any], partitioner: Partitioner
) -> list[Parts]:
    """Return which summand of each value a partition has."""
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
