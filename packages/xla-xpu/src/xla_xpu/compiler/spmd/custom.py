"""``custom_partitioning``: functions that supply the program of each device."""

from __future__ import annotations

from typing import Any

from jax._src import custom_partitioning
from jaxlib.xla_client import HloSharding, Shape

from ..graph import Graph, Node, Value
from ..import_stablehlo import graph_of, parse
from .sharding import DimShardings, proto_of, unsharded

TARGET = "CustomSPMDPartitioning"
"""The custom call; its configuration is a number that JAX assigns in this process."""


def partitioned(
    node: Node, given: list[DimShardings], taken: list[DimShardings], partitions: int
) -> tuple[Graph, list[DimShardings], list[DimShardings]]:
    """Return the program of each device, and the shardings of its operands and results."""
    shapes = [_shape(value) for value in node.inputs]
    results = [_shape(value) for value in node.outputs]
    shardings = [HloSharding.from_proto(proto_of(sharding)) for sharding in taken]
    one = len(results) == 1
    shape = results[0] if one else Shape.tuple_shape(results)
    code, wanted, left = custom_partitioning._custom_partitioning_partition(
        shapes,
        [HloSharding.from_proto(proto_of(sharding)) for sharding in given],
        shape,
        shardings[0] if one else HloSharding.tuple_sharding(shape, shardings),
        node.attributes["backend_config"].encode(),
    )
    ends = [left] if one else left.tuple_elements()
    return (
        graph_of(parse(code)),
        [_dim_shardings(s, v, partitions) for s, v in zip(wanted, node.inputs, strict=True)],
        [_dim_shardings(s, v, partitions) for s, v in zip(ends, node.outputs, strict=True)],
    )


def _shape(value: Value) -> Any:
    return Shape.array_shape(value.type.element.numpy, value.shape)


def _dim_shardings(sharding: HloSharding, value: Value, partitions: int) -> DimShardings:
    nothing = unsharded(partitions)
    if sharding.is_replicated():
        return (nothing,) * len(value.shape)
    sizes = list(sharding.tile_assignment_dimensions())
    dims = []
    for dim in range(len(value.shape)):
        stride = 1
        for size in sizes[dim + 1 :]:
            stride *= size
        parts = [0] * partitions
        for position, device in enumerate(sharding.tile_assignment_devices()):
            parts[device] = position // stride % sizes[dim]
        dims.append(tuple(parts))
    return tuple(dims)
