"""Reads and writes at places that the program computes."""

from __future__ import annotations

import math
from typing import Any

from ..affine import Affine
from ..elementwise import headers_of
from ..emit import Emitter, clamped
from ..failures import Unsupported
from ..graph import Graph, Node, Value
from ..loops import Output
from ..lower import Lowerer, lowering
from ..plan import MOST_DIMENSIONS, View, make_step
from ..regions import as_expression, reducer_of, region_text
from ..space import counters
from ..tasks import Goal
from ..types import ELEMENTS, Element, Type, row_major


@lowering("dynamic_update_slice", absorbs=True)
def dynamic_update_slice(lowerer: Lowerer, node: Node) -> None:
    """A copy, into which the update is written as it is computed; the copy goes where it can be spared."""
    operand, update, *starts = node.inputs
    source = lowerer.place(operand)
    out = lowerer.result(node.output)
    lowerer.copy(out, source)
    if not update.type.count:
        return
    window = out.with_layout(update.shape, out.strides)

    def write(emitter: Emitter) -> Output:
        shift = Affine()
        for start, size, whole, stride in zip(
            starts, update.shape, operand.shape, out.strides, strict=True
        ):
            if size == whole:
                continue
            number = emitter.value(start, ())
            name = emitter.define("i64", clamped(number, start.type.element, whole - size))
            shift = shift + Affine.of(name) * stride
        return Output(emitter.value(update, counters(update.shape)), window, shift)

    emitter, output = lowerer.emit(write, [update])
    lowerer.add_kernel(emitter, [output], [Goal(write, update.shape, lowerer.clock)])


def _places(lowerer: Lowerer, indices: Value) -> View:
    """Indices in a type that the runtime takes."""
    if indices.type.element.name == "ui64":
        wide = Type(ELEMENTS["i64"], indices.shape)
        indices = Node("convert", [indices], [wide]).output
    return lowerer.place(indices)


@lowering("gather")
def gather(lowerer: Lowerer, node: Node) -> None:
    """Windows of an array."""
    if any(len(v.shape) > MOST_DIMENSIONS for v in (*node.inputs, node.output)):
        _gather_in_a_kernel(lowerer, node)
        return
    operand, indices = lowerer.place(node.inputs[0]), _places(lowerer, node.inputs[1])
    out = lowerer.result(node.output)
    if out.type.count:
        numbers = dict(node.attributes["dimension_numbers"])
        sizes = list(node.attributes["slice_sizes"])
        lowerer.add(
            make_step(
                "gather",
                {"in": operand, "indices": indices},
                {"out": out},
                slice_sizes=sizes,
                **numbers,
            )
        )


def _gather_in_a_kernel(lowerer: Lowerer, node: Node) -> None:
    """For each element of the result, where it is from: shapes of any number of dimensions."""
    operand, indices = node.inputs
    numbers, sizes = node.attributes["dimension_numbers"], node.attributes["slice_sizes"]
    at, vector = counters(node.output.shape), numbers["index_vector_dim"]
    batch = [c for dim, c in enumerate(at) if dim not in numbers["offset_dims"]]
    gone = {*numbers["collapsed_slice_dims"], *numbers["operand_batching_dims"]}

    def write(emitter: Emitter) -> str:
        inside = [Affine()] * len(operand.shape)
        kept = [dim for dim in range(len(operand.shape)) if dim not in gone]
        for dim, offset in zip(kept, numbers["offset_dims"], strict=True):
            inside[dim] = at[offset]
        for dim, own in zip(
            numbers["operand_batching_dims"], numbers["start_indices_batching_dims"], strict=True
        ):
            inside[dim] = batch[own if own < vector else own - 1]
        for number, dim in enumerate(numbers["start_index_map"]):
            place = [*batch[:vector], Affine(number), *batch[vector:]][: len(indices.shape)]
            start = emitter.value(indices, tuple(place))
            room = operand.shape[dim] - sizes[dim]
            name = emitter.define("i64", clamped(start, indices.type.element, room))
            inside[dim] = inside[dim] + Affine.of(name)
        return emitter.value(operand, tuple(inside))

    out = lowerer.result(node.output)
    if out.type.count:
        lowerer.place(operand)
        emitter, name = lowerer.emit(write, [node.output])
        lowerer.add_kernel(emitter, [Output(name, out)])


@lowering("scatter")
def scatter(lowerer: Lowerer, node: Node) -> None:
    """Windows brought to an array's copy, which goes where it can be spared."""
    if len(node.inputs) != 3:
        raise Unsupported("a scatter of several arrays at once is not supported on xpu")
    operand, indices, updates = node.inputs
    source, values = lowerer.place(operand), lowerer.place(updates)
    places = _places(lowerer, indices)
    out = lowerer.result(node.output)
    lowerer.copy(out, source)
    if not updates.type.count:
        return
    numbers = dict(node.attributes["scatter_dimension_numbers"])
    numbers["scatter_dims_to_operand_dims"] = numbers.pop("scattered_dims_to_operand_dims")
    target = out
    if max(len(out.shape), len(values.shape)) > MOST_DIMENSIONS:
        values = lowerer.dense(updates)
        target, values, numbers = _with_whole_windows(target, values, numbers)
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


def _with_whole_windows(
    out: View, updates: View, numbers: dict[str, Any]
) -> tuple[View, View, dict[str, Any]]:
    """Of dense arrays: neighbouring dimensions of which windows have all become one, for the runtime."""
    gone = {*numbers["inserted_window_dims"], *numbers["input_batching_dims"]}
    kept = [dim for dim in range(len(out.shape)) if dim not in gone]
    window = dict(zip(kept, numbers["update_window_dims"], strict=True))
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


# Reducers that the runtime has a combiner of.
_COMMON = ("add", "multiply", "minimum", "maximum")


def _combiner(region: Graph, element: Element) -> dict[str, Any]:
    """One of the runtime's, whose kernel may be there already, or an expression."""
    if region.results == region.parameters[1:]:
        return {"name": "replace"}
    if element.kind == "float" and reducer_of(region) in _COMMON:
        return {"name": reducer_of(region)}
    lines, (result,) = region_text(region, ["a", "b"])
    combine = as_expression(lines, result)
    headers = headers_of(combine, element.kind == "complex")
    return {"name": "xla", "combine": combine, "headers": headers}
