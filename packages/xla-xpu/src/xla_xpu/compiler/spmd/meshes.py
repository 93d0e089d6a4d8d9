"""Reads meshes and shardings of Shardy and StableHLO."""

from __future__ import annotations

from typing import Any

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import sdy, stablehlo

from ..failures import Unsupported
from .sharding import DimShardings, Parts, are_independent, count, groups, unsharded

# An axis of a mesh: its size, and the coordinate of each partition.
Axis = tuple[int, Parts]


class Meshes:
    """The meshes of a module, by name."""

    def __init__(self, module: ir.Module, partitions: int) -> None:
        self.partitions = partitions
        self.axes: dict[str, dict[str, Axis]] = {}
        self.single: dict[str, int] = {}  # the only partition of a mesh without axes
        for op in module.body.operations:
            if op.operation.name == "sdy.mesh":
                name = ir.StringAttr(op.attributes["sym_name"]).value
                self.axes[name] = self._read(op.attributes["mesh"])
                device = _single(op.attributes["mesh"])
                if device is not None:
                    self.single[name] = device

    def _read(self, attribute: ir.Attribute) -> dict[str, Axis]:
        dialect: Any = stablehlo if stablehlo.MeshAttr.isinstance(attribute) else sdy
        mesh = dialect.MeshAttr(attribute)
        named = [(axis.name, axis.size) for axis in map(dialect.MeshAxisAttr, mesh.axes)]
        ids = list(mesh.device_ids or range(self.partitions))
        if not named:  # a mesh of one device: every partition computes the array
            return {}
        axes, stride = {}, 1
        for name, size in reversed(named):
            places = [0] * self.partitions
            for position, partition in enumerate(ids):
                places[partition] = position // stride % size
            axes[name] = (size, tuple(places))
            stride *= size
        if stride != self.partitions or len(ids) != stride:
            raise Unsupported(f"a mesh has {stride} devices, but the program has {self.partitions}")
        return axes

    def dim_shardings(self, attribute: Any, without: frozenset[str] = frozenset()) -> DimShardings:
        """Return the sharding of an array, ignoring the axes in ``without``."""
        sharding = sdy.TensorShardingAttr(attribute)
        axes = self._mesh(sharding.mesh_or_ref)
        dims = []
        for dim in sharding.dimension_shardings:
            parts = unsharded(self.partitions)
            for axis in map(sdy.AxisRefAttr, sdy.DimensionShardingAttr(dim).axes):
                if axis.name in without:
                    continue
                size, _, places = _part_of(axes[axis.name], axis.sub_axis_info)
                parts = tuple(p * size + place for p, place in zip(parts, places, strict=True))
            dims.append(parts)
        return tuple(dims)

    def only_device(self, attribute: Any) -> int | None:
        """Return the only partition that has values of this sharding, or None."""
        each = sdy.TensorShardingPerValueAttr(attribute).shardings
        mesh: Any = sdy.TensorShardingAttr(each[0]).mesh_or_ref if len(each) else None
        if isinstance(mesh, ir.FlatSymbolRefAttr):
            return self.single.get(mesh.value)
        return None if mesh is None else _single(mesh)

    def value_shardings(
        self, attribute: Any, without: frozenset[str] = frozenset()
    ) -> list[DimShardings]:
        """Return the shardings of several values."""
        each = sdy.TensorShardingPerValueAttr(attribute).shardings
        return [self.dim_shardings(sharding, without) for sharding in each]

    def unreduced(self, attribute: Any, without: frozenset[str] = frozenset()) -> Parts:
        """Return which summand each partition has; all 0 if the array is not unreduced."""
        sharding = sdy.TensorShardingAttr(attribute)
        axes = self._mesh(sharding.mesh_or_ref)
        along = unsharded(self.partitions)
        for axis in map(sdy.AxisRefAttr, sharding.unreduced_axes):
            if axis.name in without:
                continue
            size, _, places = _part_of(axes[axis.name], axis.sub_axis_info)
            along = tuple(a * size + place for a, place in zip(along, places, strict=True))
        return along

    def summands(self, attribute: Any, without: frozenset[str] = frozenset()) -> list[Parts]:
        """Return the result of unreduced() for several values."""
        each = sdy.TensorShardingPerValueAttr(attribute).shardings
        return [self.unreduced(sharding, without) for sharding in each]

    def scope(self, shardings: list[Any], manual: frozenset[str], outer: Parts) -> Parts:
        """Number the positions on the manual axes, within those of an outer scope."""
        each = [s for many in shardings for s in sdy.TensorShardingPerValueAttr(many).shardings]
        if not each:
            return outer
        axes = self._mesh(sdy.TensorShardingAttr(each[0]).mesh_or_ref)
        numbers = outer
        for name in sorted(manual):
            size, places = axes[name]
            numbers = tuple(n * size + p for n, p in zip(numbers, places, strict=True))
        return numbers

    def groups(self, attribute: Any) -> list[list[int]]:
        """Return the groups of partitions of a collective over axes of a mesh."""
        over = stablehlo.ReplicaGroupMeshAxesAttr(attribute)
        axes = self._mesh(over.mesh)
        # The partitions' coordinates on the axes of the collective, and on the rest of the mesh.
        along, other_axes = (
            unsharded(self.partitions),
            {name: places for name, (_, places) in axes.items()},
        )
        for axis in map(stablehlo.AxisRefAttr, over.axes):
            size, stride, places = _part_of(axes[axis.name], axis.sub_axis_info)
            along = tuple(a * size + place for a, place in zip(along, places, strict=True))
            rest = zip(other_axes[axis.name], places, strict=True)
            other_axes[axis.name] = tuple(all_of_it - place * stride for all_of_it, place in rest)
        return groups(tuple(other_axes.values()), along)

    def _mesh(self, reference: Any) -> dict[str, Axis]:
        if isinstance(reference, ir.FlatSymbolRefAttr):
            return self.axes[reference.value]
        return self._read(reference)


def _single(mesh: ir.Attribute) -> int | None:
    of_one: Any = sdy.MeshAttr(mesh)
    return of_one.device_ids[0] if len(of_one.device_ids) and not len(of_one.axes) else None


def _part_of(axis: Axis, info: Any) -> tuple[int, int, Parts]:
    """Return size, stride and coordinates of an axis, or of a sub-axis of it."""
    size, places = axis
    if info is None:
        return size, 1, places
    dialect: Any = stablehlo if stablehlo.SubAxisInfoAttr.isinstance(info) else sdy
    info = dialect.SubAxisInfoAttr(info)
    stride = size // (info.pre_size * info.size)
    return info.size, stride, tuple(place // stride % info.size for place in places)


def usable(sharding: DimShardings, shape: tuple[int, ...], scope: Parts) -> DimShardings:
    """Return the sharding without the dimensions that it does not divide evenly."""
    nothing = unsharded(len(scope))
    dims = tuple(
        parts if size % count(parts) == 0 else nothing
        for size, parts in zip(shape, sharding, strict=True)
    )
    return dims if are_independent(dims, scope) else (nothing,) * len(shape)
