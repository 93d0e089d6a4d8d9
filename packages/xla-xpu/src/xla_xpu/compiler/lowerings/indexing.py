"""Lowerings of gather, scatter and dynamic_update_slice."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from xpu_runtime.codegen.affine import Affine, Coordinates, counters
from xpu_runtime.codegen.statements import Operand

from ..elementwise import headers_of
from ..emit import Emitter, clamped
from ..failures import Unsupported
from ..graph import Graph, Node, Value
from ..lower import Lowerer, lowering
from ..pending_kernel import Start
from ..plan import MAX_DIMENSIONS, View, make_step
from ..regions import rare_headers, reducer_of, region_expression
from ..types import ELEMENTS, Element, Type, row_major

# The maximum number of an index's components in the runtime.
_MAX_COMPONENTS = 8


@lowering("dynamic_update_slice", absorbs=True)
def dynamic_update_slice(lowerer: Lowerer, node: Node) -> None:
    """Copy the operand and write the update into it; a needless copy is removed later."""
    operand, update, *starts = node.inputs
    source = lowerer.materialize(operand)
    out = lowerer.result(node.output)
    lowerer.copy(out, source)
    if not update.type.count:
        return
    window = out.with_layout(update.shape, out.strides)

    dims = zip(starts, update.shape, operand.shape, out.strides, strict=True)
    moved = [Start(start, whole - n, stride) for start, n, whole, stride in dims if n != whole]
    lowerer.add_update(update, window, moved)


def _too_many(arrays: Iterable[Value | View], components: int) -> bool:
    """Return True if arrays or indices have too many dimensions or components for the runtime."""
    # The runtime adds a dimension to the array if indices have no component.
    max_dims = MAX_DIMENSIONS if components else MAX_DIMENSIONS - 1
    return components > _MAX_COMPONENTS or any(len(array.shape) > max_dims for array in arrays)


@lowering("gather")
def gather(lowerer: Lowerer, node: Node) -> None:
    """Add the runtime's gather, or a kernel of its own if that has too many dimensions."""
    operand, indices = node.inputs
    numbers = dict(node.attributes["dimension_numbers"])
    many = _too_many((operand, indices, node.output), len(numbers["start_index_map"]))
    if many or indices.type.element.name == "ui64":
        _add_gather_kernel(lowerer, node)
        return
    reads = {"in": lowerer.materialize(operand), "indices": lowerer.materialize(indices)}
    out = lowerer.result(node.output)
    if out.type.count:
        sizes = list(node.attributes["slice_sizes"])
        lowerer.add(make_step("gather", reads, {"out": out}, slice_sizes=sizes, **numbers))


def _add_gather_kernel(lowerer: Lowerer, node: Node) -> None:
    """Add a kernel that computes each result element's position; it has no limits of dimensions."""
    operand, indices = node.inputs
    numbers, sizes = node.attributes["dimension_numbers"], node.attributes["slice_sizes"]
    walk = _Elements(
        counters(node.output.shape),
        len(operand.shape),
        indices,
        numbers["offset_dims"],
        numbers["collapsed_slice_dims"],
        dict(
            zip(
                numbers["operand_batching_dims"],
                numbers["start_indices_batching_dims"],
                strict=True,
            )
        ),
        numbers["index_vector_dim"],
    )

    def write(emitter: Emitter) -> list[Operand]:
        inside = walk.inside()
        for number, dim in enumerate(numbers["start_index_map"]):
            start = walk.component(emitter, number)
            room = operand.shape[dim] - sizes[dim]
            name = emitter.define("i64", clamped(start, indices.type.element, room))
            inside[dim] = inside[dim] + Affine.of(name)
        return [emitter.value(operand, tuple(inside))]

    out = lowerer.result(node.output)
    if out.type.count:
        lowerer.materialize(operand)
        lowerer.add_kernel(write, [out], [operand, indices])


@dataclass(frozen=True)
class _Elements:
    """The windows' elements, and where each is in the array of ``rank`` dimensions that indices choose from.

    ``windows``: the dimensions of the walk that are in a window; ``missing``: those of the array that are in
    none. ``batching``: of the array, and which of the indices' they go along with.
    """

    at: Coordinates
    rank: int
    indices: Value
    windows: list[int]
    missing: list[int]
    batching: dict[int, int]
    vector: int

    @property
    def batch(self) -> list[Affine]:
        """The coordinates of the index."""
        return [place for dim, place in enumerate(self.at) if dim not in self.windows]

    @property
    def window(self) -> dict[int, int]:
        """The window dimension for each dimension of the array that windows have."""
        excluded = {*self.missing, *self.batching}
        window_dims = [dim for dim in range(self.rank) if dim not in excluded]
        return dict(zip(window_dims, self.windows, strict=True))

    def inside(self) -> list[Affine]:
        """The coordinates of an element in the array if its index is 0."""
        inside, batch = [Affine()] * self.rank, self.batch
        for dim, own in self.window.items():
            inside[dim] = self.at[own]
        for dim, own in self.batching.items():
            inside[dim] = batch[own if own < self.vector else own - 1]
        return inside

    def component(self, emitter: Emitter, number: int) -> Operand:
        """Return a component of an element's index."""
        batch, vector = self.batch, self.vector
        place = [*batch[:vector], Affine(number), *batch[vector:]][: len(self.indices.shape)]
        return emitter.value(self.indices, tuple(place))


@lowering("scatter")
def scatter(lowerer: Lowerer, node: Node) -> None:
    """Copy the operand and scatter windows into it; a needless copy is removed later."""
    if len(node.inputs) != 3:
        raise Unsupported("a scatter of several arrays at once is not supported on xpu")
    operand, indices, updates = node.inputs
    source, values = lowerer.materialize(operand), lowerer.materialize(updates)
    places = _signed(lowerer, indices)
    out = lowerer.result(node.output)
    lowerer.copy(out, source)
    if not (updates.type.count and operand.type.count):
        return
    numbers = dict(node.attributes["scatter_dimension_numbers"])
    numbers["scatter_dims_to_operand_dims"] = numbers.pop("scattered_dims_to_operand_dims")
    target, components = out, len(numbers["scatter_dims_to_operand_dims"])
    if _too_many([target, values], 1):
        values = lowerer.contiguous(updates)
        target, values, numbers = _with_whole_windows(target, values, numbers)
    if _too_many([target, values, places], components):
        places, numbers = _places_of_elements(lowerer, node)
        target, values = (
            view.with_layout((view.type.count,), (1,))
            for view in (out, lowerer.contiguous(updates))
        )
    step = make_step(
        "scatter",
        {"indices": places, "updates": values},
        {"out": target},
        deterministic=False,
        **_combiner(node.regions[0], operand.type.element),
        **numbers,
    )
    step.reads.append(out.buffer)
    lowerer.add(step)


def _signed(lowerer: Lowerer, indices: Value) -> View:
    """Convert indices to a type of the runtime; an index that overflows is out of range anyway."""
    if indices.type.element.name == "ui64":
        wide = Type(ELEMENTS["i64"], indices.shape)
        indices = Node("convert", [indices], [wide]).output
    return lowerer.materialize(indices)


def _places_of_elements(lowerer: Lowerer, node: Node) -> tuple[View, dict[str, Any]]:
    """For each element of a scatter's updates its place in the array: an index of one component.

    It is out of range for all of a window that is not wholly in the array: none of that is written.
    """
    operand, indices, updates = node.inputs
    numbers = node.attributes["scatter_dimension_numbers"]
    walk = _Elements(
        counters(updates.shape),
        len(operand.shape),
        indices,
        numbers["update_window_dims"],
        numbers["inserted_window_dims"],
        dict(
            zip(
                numbers["input_batching_dims"],
                numbers["scatter_indices_batching_dims"],
                strict=True,
            )
        ),
        numbers["index_vector_dim"],
    )
    strides, window = operand.type.strides, walk.window
    sign = "(u64)" if indices.type.element.kind == "uint" else "(u64)(i64)"

    def write(emitter: Emitter) -> list[str]:
        given: list[Operand] = list(walk.inside())
        # Computed in i64, because it may exceed the type of the kernel's positions.
        place = [f"(i64)({{{dim}}}) * {stride}l" for dim, stride in enumerate(strides)]
        within = []
        for number, dim in enumerate(numbers["scattered_dims_to_operand_dims"]):
            start = walk.component(emitter, number)
            size = updates.shape[window[dim]] if dim in window else 1
            within.append(f"{sign}{{{len(given)}}} <= {operand.shape[dim] - size}ul")
            place.append(f"(i64){{{len(given)}}} * {strides[dim]}l")
            given.append(start)
        text = f"{' && '.join(within) or 'true'} ? {' + '.join(place)} : -1l"
        return [emitter.let("i64", text, *given)]

    places = lowerer.new(Type(ELEMENTS["i64"], updates.shape))
    lowerer.add_kernel(write, [places], [indices])
    flat = {
        "update_window_dims": [],
        "inserted_window_dims": [0],
        "input_batching_dims": [],
        "scatter_indices_batching_dims": [],
        "scatter_dims_to_operand_dims": [0],
        "index_vector_dim": 1,
    }
    return places.with_layout((updates.type.count,), (1,)), flat


def _with_whole_windows(
    out: View, updates: View, numbers: dict[str, Any]
) -> tuple[View, View, dict[str, Any]]:
    """Join neighboring dimensions of contiguous arrays that windows have completely, for the runtime."""
    excluded = {*numbers["inserted_window_dims"], *numbers["input_batching_dims"]}
    window_dims = [dim for dim in range(len(out.shape)) if dim not in excluded]
    window = dict(zip(window_dims, numbers["update_window_dims"], strict=True))
    fixed = numbers["scatter_dims_to_operand_dims"]

    def whole(dim: int) -> bool:
        return dim in window and dim not in fixed and out.shape[dim] == updates.shape[window[dim]]

    groups: list[list[int]] = []
    for dim in range(len(out.shape)):
        if groups and whole(dim) and whole(dim - 1) and window[dim] == window[dim - 1] + 1:
            groups[-1].append(dim)
        else:
            groups.append([dim])
    joined = {window[dim] for group in groups for dim in group[1:]}
    rest = [dim for dim in range(len(updates.shape)) if dim not in joined]
    number_of = {group[0]: number for number, group in enumerate(groups)}
    sizes = {window[g[0]]: math.prod(out.shape[d] for d in g) for g in groups if len(g) > 1}
    shape = tuple(math.prod(out.shape[dim] for dim in group) for group in groups)
    update_shape = tuple(sizes.get(dim, updates.shape[dim]) for dim in rest)
    renumbered = {
        name: [number_of[dim] for dim in numbers[name]]
        for name in ("inserted_window_dims", "input_batching_dims", "scatter_dims_to_operand_dims")
    }
    windows = [rest.index(dim) for dim in numbers["update_window_dims"] if dim not in joined]
    return (
        out.with_layout(shape, row_major(shape)),
        updates.with_layout(update_shape, row_major(update_shape)),
        numbers | renumbered | {"update_window_dims": windows},
    )


# Reducers for which the runtime has a combiner.
_COMMON = ("add", "multiply", "minimum", "maximum")


def _combiner(region: Graph, element: Element) -> dict[str, Any]:
    """Return a combiner of the runtime, whose kernel may be built already, or an expression."""
    if region.results == region.parameters[1:]:
        return {"name": "replace"}
    if element.kind == "float" and reducer_of(region) in _COMMON:
        return {"name": reducer_of(region)}
    combine = region_expression(region, ["a", "b"])
    return {"name": "xla", "combine": combine, "headers": headers_of(rare_headers(region))}
