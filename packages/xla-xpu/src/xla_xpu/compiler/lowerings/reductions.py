"""Lowering of reductions, fused with the computation of their inputs."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
from xpu_runtime.codegen.affine import Coordinates, counters
from xpu_runtime.codegen.literals import literal
from xpu_runtime.codegen.statements import Operand

from ..emit import Emitter
from ..graph import Node, Value
from ..lower import Lowerer, lowering
from ..pending_reduction import PendingReduction, ReducedInputs
from ..pending_rows import RowReduction, lower_rows
from ..plan import MAX_DIMENSIONS, View, groups_of, joined
from ..reducers import IDENTITIES, Reducer, identity_of
from ..regions import reducer_of
from ..splats import counted_dimension, splat
from ..types import Element, Type, row_major
from ..walk import Walk
from .window_loops import Window, add_loops

# The maximum number of arrays that a reduction reads; the runtime's limit includes outputs.
_MAX_OPERANDS = 8
# The maximum number of accumulated values.
_MAX_ACCUMULATORS = 4

# Reducers for which the runtime has a reduction, whose kernel PyTorch may have built already.
_COMMON = {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min"}


@lowering("reduce", absorbs=True)
def reduce(lowerer: Lowerer, node: Node) -> None:
    """Add a reduction of the runtime over views of the arrays from which its inputs are computed."""
    count = len(node.inputs) // 2
    inputs, starts = node.inputs[:count], node.inputs[count:]
    outs = [lowerer.result(value) for value in node.outputs]
    if not outs[0].type.count:
        return
    region = node.regions[0]
    elements = [value.type.element for value in inputs]
    reducer = reducer_of(region) if count == 1 else ""
    odd = count > _MAX_ACCUMULATORS or any(splat(value) is None for value in region.captured())
    if odd or (not reducer and any(splat(start) is None for start in starts)):
        _add_loops(lowerer, node)
        return
    if (reducer in IDENTITIES and elements[0].kind != "complex") or reducer in ("add", "multiply"):
        identities = (
            [literal(identity_of(reducer, elements[0]), elements[0])]
            if elements[0].kind != "complex"
            else [literal(np.complex128({"add": 0, "multiply": 1}[reducer]), elements[0])]
        )
    else:
        numbers = [splat(start) for start in starts]
        identities = [literal(number, e) for number, e in zip(numbers, elements, strict=True)]
        starts = []
    combining = Reducer(region, elements, identities, starts)
    if all(splat(start) is not None for start in starts) and _suits_rows(lowerer, node):
        rows, shape = len(outs[0].shape), inputs[0].shape
        fold = RowReduction({}, inputs, list(node.outputs), combining, list(outs))
        kernel = lower_rows(fold, shape[:rows], shape[rows:], lowerer.find_view)
        if kernel is not None:
            lowerer.add(kernel)
            return
    dims, results = list(node.attributes["dimensions"]), outs
    found = _inputs(lowerer, inputs, _places(inputs, dims))
    views = found.views
    if len(views[0].shape) > MAX_DIMENSIONS:
        groups = groups_of(views, dims)
        dims = [
            number
            for number, group in enumerate(groups)
            if group[0] in node.attributes["dimensions"]
        ]
        if len(groups) > MAX_DIMENSIONS or not dims:
            _add_loops(lowerer, node)
            return
        views = joined(views, groups)
        remaining = tuple(size for dim, size in enumerate(views[0].shape) if dim not in dims)
        results = [out.with_layout(remaining, row_major(remaining)) for out in outs]
    fields = {"in": views, "out": results, "dims": dims, "compute": _compute(elements)}
    common = _COMMON.get(reducer, "") if elements[0].kind == "float" else ""
    step = PendingReduction("reduce", fields, found=found, reducer=combining, common=common)
    step.reads, step.writes = [view.buffer for view in views], [out.buffer for out in results]
    lowerer.add(step)
    _start(lowerer, node, starts, reducer, outs)


def _add_loops(lowerer: Lowerer, node: Node) -> None:
    """Add a kernel that loops for each result element, for any initial value and any reducer."""
    count = len(node.inputs) // 2
    inputs, starts = node.inputs[:count], node.inputs[count:]
    dims, shape = node.attributes["dimensions"], inputs[0].shape
    windows = [Window(n if d in dims else 1) for d, n in enumerate(shape)]
    remaining = tuple(1 if d in dims else n for d, n in enumerate(shape))
    wholes = [Value(Type(value.type.element, remaining), None, 0) for value in node.outputs]
    if 0 in shape:
        for value, start in zip(node.outputs, starts, strict=True):
            nowhere: dict[str, Any] = {"broadcast_dimensions": []}
            wide = Node("broadcast_in_dim", [start], [value.type], nowhere).output
            lowerer.copy(lowerer.views[value], lowerer.materialize(wide))
        return
    for whole, value in zip(wholes, node.outputs, strict=True):
        out = lowerer.views[value]
        lowerer.views[whole] = out.with_layout(remaining, row_major(remaining))
    add_loops(lowerer, inputs, starts, node.regions[0], windows, wholes)


# The minimum length of rows: shorter ones leave lanes idle.
_MIN_ROW = 8


def _suits_rows(lowerer: Lowerer, node: Node) -> bool:
    """Return True if the reduction is along rows, and there are enough of them for the device."""
    shape, dims = node.inputs[0].shape, sorted(node.attributes["dimensions"])
    if dims != list(range(len(shape) - len(dims), len(shape))):
        return False
    rows, columns = node.output.type.count, math.prod(shape[dim] for dim in dims)
    return columns >= _MIN_ROW and rows >= 4 * lowerer.target.units


def _places(inputs: list[Value], dims: list[int]) -> dict[Value, str]:
    """Return expressions of inputs that count along the reduced dimensions, as those of argmax do."""
    shape = inputs[0].shape
    if len(shape) > MAX_DIMENSIONS:
        return {}
    places = {}
    for value in inputs:
        along = counted_dimension(value)
        if along is not None and along in dims and value.type.element.kind in ("int", "uint"):
            inside = math.prod(shape[dim] for dim in dims if dim > along)
            place = "index" if inside == 1 else f"index / {inside}"
            if along != min(dims):
                place += f" % {shape[along]}"
            places[value] = f"({value.type.element.math})({place})"
    return places if len(places) < len(inputs) else {}


def _inputs(lowerer: Lowerer, inputs: list[Value], places: dict[Value, str]) -> ReducedInputs:
    """Compute the inputs from views, or from their own memory if views do not describe them."""
    shape, max_loads = inputs[0].shape, _MAX_OPERANDS - len(inputs)
    while True:
        walk = Walk(lowerer.find_view, max_loads)
        for value in inputs:
            if value not in places:
                walk.visit(value, counters(shape))
        if walk.missing is None:
            break
        lowerer.materialize(walk.missing)
    if walk.is_too_large or not walk.is_regular or not 0 < len(walk.loads) <= max_loads:
        return ReducedInputs(inputs, [lowerer.materialize(value) for value in inputs])
    views = []
    for view, place in walk.loads:
        strides = tuple(place.factor(dim) for dim in range(len(shape)))
        views.append(View(view.buffer, view.element, shape, strides, place.constant))
    return ReducedInputs(inputs, views, walk.loads, walk.reads, places)


def _compute(elements: list[Element]) -> str:
    """Return the runtime's dtype of the arithmetic."""
    element = elements[0]
    if element.narrow:
        return "f32"
    return element.runtime


def _start(
    lowerer: Lowerer, node: Node, starts: list[Value], reducer: str, outs: list[View]
) -> None:
    """Combine a result with an initial value that is computed on the device."""
    for start, value, out in zip(starts, node.outputs, outs, strict=False):
        if splat(start) is not None:
            continue
        reduced = Value(value.type, None, 0)
        lowerer.views[reduced] = out
        again = Node(reducer, [reduced, start], [value.type])
        wide = Node("broadcast_in_dim", [start], [value.type], {"broadcast_dimensions": []})
        again.inputs[1] = wide.output
        at = counters(value.shape)
        write = partial(_elements_of, again.output, at)
        lowerer.add_kernel(write, [out], [reduced, start])


def _elements_of(value: Value, at: Coordinates, emitter: Emitter) -> list[Operand]:
    return [emitter.value(value, at)]
