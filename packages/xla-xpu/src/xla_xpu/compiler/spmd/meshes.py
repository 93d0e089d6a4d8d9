"""Reads Shardy's meshes and shardings."""

from __future__ import annotations

from typing import Any

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import sdy, stablehlo

from ..failures import Unsupported
from .sharding import DimShardings, Parts, are_independent, count, groups, unsharded

# An axis of a mesh: its size, and where each partition is on it.
Axis = tuple[int, Parts]


class Meshes:
    """The meshes of a module, by name."""

    def __init__(self, module: ir.Module, partitions: int) -> None:
        self.partitions = partitions
        self.axes: dict[str, dict[str, Axis]] = {}
        self.single: dict[str, int] = {}  # the one partition of a mesh that has no axes
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
        if not named:  # all on one device: every partition computes it
            return {}
        axes, stride = {}, 1
        for name, size in reversed(named):
            places = [0] * self.partitions
            for position, partition in enumerate(ids):
                places[partition] = position // stride % size
            axes[name] = (size, tuple(places))
            stride *= size
        if stride != self.partitions or len(ids) != stride:
            raise Unsupported(
                f"a mesh of {stride} devices in a program over {self.partitions} devices"
            )
        return axes

    def dim_shardings(self, attribute: Any, without: frozenset[str] = frozenset()) -> DimShardings:
        """Of a sharding; ``without`` some of its axes."""
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
        """The partition that has all of the values of such a sharding to itself."""
        each = sdy.TensorShardingPerValueAttr(attribute).shardings
        mesh: Any = sdy.TensorShardingAttr(each[0]).mesh_or_ref if len(each) else None
        if isinstance(mesh, ir.FlatSymbolRefAttr):
            return self.single.get(mesh.value)
        return None if mesh is None else _single(mesh)

    def value_shardings(
        self, attribute: Any, without: frozenset[str] = frozenset()
    ) -> list[DimShardings]:
        """Of shardings of several values."""
        each = sdy.TensorShardingPerValueAttr(attribute).shardings
        return [self.dim_shardings(sharding, without) for sharding in each]

    def unreduced(self, attribute: Any, without: frozenset[str] = frozenset()) -> Parts:
        """Which of the arrays still to be summed each partition has; one for all when there is one."""
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
        """The same of several values."""
        each = sdy.TensorShardingPerValueAttr(attribute).shardings
        return [self.unreduced(sharding, without) for sharding in each]

    def scope(self, shardings: list[Any], manual: frozenset[str], outer: Parts) -> Parts:
        """A number for each place on the manual axes, within that of an outer scope."""
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
        """The partitions among which a collective is that goes over axes of a mesh."""
        over = stablehlo.ReplicaGroupMeshAxesAttr(attribute)
        axes = self._mesh(over.mesh)
        # Where a partition is on the axes gone over, and where on all that is left of the mesh.
        along, apart = (
            unsharded(self.partitions),
            {name: places for name, (_, places) in axes.items()},
        )
        for axis in map(stablehlo.AxisRefAttr, over.axes):
            size, stride, places = _part_of(axes[axis.name], axis.sub_axis_info)
            along = tuple(a * size + place for a, place in zip(along, places, strict=True))
            rest = zip(apart[axis.name], places, strict=True)
            apart[axis.name] = tuple(all_of_it - place * stride for all_of_it, place in rest)
        return groups(tuple(apart.values()), along)

    def _mesh(self, reference: Any) -> dict[str, Axis]:
        if isinstance(reference, ir.FlatSymbolRefAttr):
            return self.axes[reference.value]
        return self._read(reference)


def _single(mesh: ir.Attribute) -> int | None:
    of_one: Any = sdy.MeshAttr(mesh)
    return of_one.device_ids[0] if len(of_one.device_ids) and not len(of_one.axes) else None


def _part_of(axis: Axis, info: Any) -> tuple[int, int, Parts]:
    """An axis, or what a split of it in three has in the middle: size, stride and places."""
    size, places = axis
    if info is None:
        return size, 1, places
    dialect: Any = stablehlo if stablehlo.SubAxisInfoAttr.isinstance(info) else sdy
    info = dialect.SubAxisInfoAttr(info)
    stride = size // (info.pre_size * info.size)
    return info.size, stride, tuple(place // stride % info.size for place in places)


def usable(sharding: DimShardings, shape: tuple[int, ...], scope: Parts) -> DimShardings:
    """A sharding without what does not divide an array evenly."""
    nothing = unsharded(len(scope))
    kept = tuple(
        parts if size % count(parts) == 0 else nothing
        for size, parts in zip(shape, sharding, strict=True)
    )
    return kept if are_independent(kept, scope) else (nothing,) * len(shape)
