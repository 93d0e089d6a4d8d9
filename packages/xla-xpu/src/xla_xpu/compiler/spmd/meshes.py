"""Reads Shardy's meshes and shardings."""

from __future__ import annotations

from typing import Any

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import sdy

from ..failures import Unsupported
from .layout import Layout, Parts, count, independent, whole

# An axis of a mesh: its size, and where each partition is on it.
Axis = tuple[int, Parts]


class Meshes:
    """The meshes of a module, by name."""

    def __init__(self, module: ir.Module, partitions: int) -> None:
        self.partitions = partitions
        self.axes: dict[str, dict[str, Axis]] = {}
        for op in module.body.operations:
            if op.operation.name == "sdy.mesh":
                name = ir.StringAttr(op.attributes["sym_name"]).value
                self.axes[name] = self._read(sdy.MeshAttr(op.attributes["mesh"]))

    def _read(self, mesh: Any) -> dict[str, Axis]:
        named = [(axis.name, axis.size) for axis in map(sdy.MeshAxisAttr, mesh.axes)]
        ids = list(mesh.device_ids) or list(range(self.partitions))
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

    def layout(self, attribute: Any, without: frozenset[str] = frozenset()) -> Layout:
        """Of a sharding; ``without`` some of its axes."""
        sharding = sdy.TensorShardingAttr(attribute)
        axes = self._mesh(sharding.mesh_or_ref)
        if len(sharding.unreduced_axes):
            raise Unsupported("arrays that are still to be summed over axes of a mesh")
        layout = []
        for dim in sharding.dimension_shardings:
            parts = whole(self.partitions)
            for axis in map(sdy.AxisRefAttr, sdy.DimensionShardingAttr(dim).axes):
                if axis.name in without:
                    continue
                size, places = _part_of(axes[axis.name], axis.sub_axis_info)
                parts = tuple(p * size + place for p, place in zip(parts, places, strict=True))
            layout.append(parts)
        return tuple(layout)

    def layouts(self, attribute: Any, without: frozenset[str] = frozenset()) -> list[Layout]:
        """Of shardings of several values."""
        each = sdy.TensorShardingPerValueAttr(attribute).shardings
        return [self.layout(sharding, without) for sharding in each]

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

    def _mesh(self, reference: Any) -> dict[str, Axis]:
        if isinstance(reference, ir.FlatSymbolRefAttr):
            return self.axes[reference.value]
        return self._read(sdy.MeshAttr(reference))


def _part_of(axis: Axis, info: Any) -> Axis:
    """An axis, or what a split of it in three has in the middle."""
    if info is None:
        return axis
    whole_size, places = axis
    info = sdy.SubAxisInfoAttr(info)
    below = whole_size // (info.pre_size * info.size)
    return info.size, tuple(place // below % info.size for place in places)


def usable(layout: Layout, shape: tuple[int, ...], scope: Parts) -> Layout:
    """A layout without what does not divide an array evenly."""
    nothing = whole(len(scope))
    kept = tuple(
        parts if size % count(parts) == 0 else nothing
        for size, parts in zip(shape, layout, strict=True)
    )
    return kept if independent(kept, scope) else (nothing,) * len(shape)
