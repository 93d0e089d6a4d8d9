"""Lowering of reductions, fused with the computation of their inputs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from xpu_runtime.codegen.affine import Affine, counters
from xpu_runtime.codegen.byte_loads import is_regular
from xpu_runtime.codegen.conversions import of_bits
from xpu_runtime.codegen.literals import literal
from xpu_runtime.codegen.render import Renderer
from xpu_runtime.codegen.statements import (
    Block,
    Let,
    Load,
    Operand,
    Set,
    Statement,
    Term,
    operands,
    rewrite,
)

from ..elementwise import headers_of
from ..emit import Emitter, NeedsMemory, TooLarge
from ..graph import Graph, Node, Value
from ..lower import Lowerer, lowering
from ..pending_kernel import LocateValue, Output
from ..pending_rows import RowReduction, make_row_reduction
from ..plan import MAX_DIMENSIONS, View, groups_of, joined, make_step
from ..regions import rare_headers, reducer_of, region_statements
from ..splats import counted_dimension, splat
from ..types import Element, Type, row_major
from .window_loops import Window, add_loops

# The maximum number of arrays that a reduction reads; the runtime's limit includes outputs.
_MAX_OPERANDS = 8
# The maximum number of accumulated values.
_MAX_ACCUMULATORS = 4

# Reducers for which the runtime has a reduction, whose kernel PyTorch may have built already.
_COMMON = {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min"}

IDENTITIES = {
    "add": lambda element: 0,
    "multiply": lambda element: 1,
    "maximum": lambda element: _min_value(element),
    "minimum": lambda element: _max_value(element),
    "and": lambda element: (
        True if element.kind == "bool" else -1 if element.kind == "int" else 2**element.bits - 1
    ),
    "or": lambda element: 0,
    "xor": lambda element: 0,
}


def identity_of(reducer: str, element: Element) -> object:
    """Return the identity of a reducer."""
    return IDENTITIES[reducer](element)


def _min_value(element: Element) -> object:
    if element.kind == "float":
        return -np.inf
    return (
        False
        if element.kind == "bool"
        else -(2 ** (element.bits - 1))
        if element.kind == "int"
        else 0
    )


def _max_value(element: Element) -> object:
    if element.kind == "float":
        return np.inf
    if element.kind == "bool":
        return True
    return 2 ** (element.bits - 1) - 1 if element.kind == "int" else 2**element.bits - 1


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
    left, right = [f"s{k}" for k in range(count)], [f"r{k}" for k in range(count)]
    combine = _assignments(region, left, right, elements)
    outputs: list[Operand] = [
        _finish(region, start, element, reducer)
        for start, element in zip(starts, elements, strict=False)
    ]
    if all(splat(start) is not None for start in starts) and _suits_rows(lowerer, node):
        rows = len(outs[0].shape)
        shape = inputs[0].shape
        fold = RowReduction(
            time=lowerer.clock,
            inputs=inputs,
            outs=list(node.outputs),
            elements=elements,
            identities=identities,
            combine=combine,
            rare_headers=rare_headers(region),
            update=lambda names: _assignments(region, left, names, elements, "u"),
            finish=outputs or list(left),
            views=list(outs),
        )
        try:
            known = _without(lowerer, node)
            lowerer.add(make_row_reduction(fold, shape[:rows], shape[rows:], known))
            return
        except (NeedsMemory, TooLarge):
            pass  # the runtime's reduction reads views
    dims, results = list(node.attributes["dimensions"]), outs
    places = _places(inputs, dims)
    found = _inputs(lowerer, inputs, places)
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
    fields: dict[str, Any] = {"name": _COMMON.get(reducer)}
    whole = (outputs or left) == ["s0"] and elements[0].kind == "float"
    if not found.is_unchanged or not whole or fields["name"] is None:
        used = found.rare_headers | rare_headers(region)
        update = _assignments(region, left, found.names, elements, "u")
        renderer = Renderer()
        fields = {
            "name": "xla",
            "accumulators": [[e.math, i] for e, i in zip(elements, identities, strict=True)],
            "combine": renderer.text(combine),
            "update": renderer.text([*found.statements, *update]),
            "outputs": [renderer.operand(output) for output in outputs or left],
            "headers": headers_of(used),
            "uses_index": found.uses_index,
        }
    step = make_step(
        "reduce", {"in": views}, {"out": results}, dims=dims, compute=_compute(elements), **fields
    )
    step.reads = [view.buffer for view in views]
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


def _without(lowerer: Lowerer, node: Node) -> LocateValue:
    """Return a function that finds views of values, except of the reduction's own results."""
    return lambda value, time: None if value in node.outputs else lowerer.find_view_at(value, time)


def _assignments(
    region: Graph,
    left: list[str],
    right: Sequence[Operand],
    elements: list[Element],
    prefix: str = "w",
) -> list[Statement]:
    """Return the statements that combine the accumulators ``left`` with ``right``."""
    statements, results = region_statements(region, [*left, *right])
    match statements, results:
        case [Let(name, _, value)], [result] if name == result:
            return [Set("s0", value)]  # the form in which passes look for sums and maxima
    body: list[Statement] = list(statements)
    for k, (result, element) in enumerate(zip(results, elements, strict=True)):
        body.append(Let(f"{prefix}{k}", element.math, result))
    body += [Set(f"s{k}", f"{prefix}{k}") for k in range(len(left))]
    return [Block(body)]


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


@dataclass(frozen=True)
class _Inputs:
    """Statements that compute an element of each input, ``names``, from elements a0, a1, ... of views."""

    statements: list[Statement]
    names: list[Operand]
    views: list[View]
    uses_index: bool = False
    rare_headers: frozenset[str] = frozenset()

    @property
    def is_unchanged(self) -> bool:
        """True if nothing is computed of the one view's element."""
        if not self.statements:
            return True
        return len(self.statements) == 1 and operands(self.statements[0]) == (Term("{0}", ("a0",)),)


def _inputs(lowerer: Lowerer, inputs: list[Value], places: dict[Value, str]) -> _Inputs:
    """Compute the inputs from views, or from their own memory if views do not describe them."""
    shape = inputs[0].shape
    names: list[Operand]
    while True:
        emitter = Emitter(lowerer.find_view, _MAX_OPERANDS - len(inputs))
        try:
            names = [places.get(v) or emitter.value(v, counters(shape)) for v in inputs]
        except NeedsMemory as missing:
            lowerer.materialize(missing.value)
            continue
        except TooLarge:
            return _unfused_inputs(lowerer, inputs)
        break
    count = len(emitter.loads)
    if not 0 < count <= _MAX_OPERANDS - len(inputs) or not is_regular(emitter.statements):
        return _unfused_inputs(lowerer, inputs)
    views = []
    numbers: dict[tuple[int, Affine], int] = {}
    for number, (argument, view, place) in enumerate(emitter.loads):
        numbers.setdefault((argument, place), number)
        strides = tuple(place.factor(dim) for dim in range(len(shape)))
        views.append(View(view.buffer, view.element, shape, strides, place.constant))

    def loaded(statement: Statement) -> Statement:
        """Replace a load: the reduction has loaded the element, maybe as bytes."""
        if type(statement) is not Load:
            return statement
        number = numbers[statement.array, statement.position]
        element = views[number].element
        template = of_bits(element, "{0}") if element.foreign else "{0}"
        return Let(statement.name, element.math, Term(template, (f"a{number}",)))

    # Every view has the shape of the reduced array.
    return _Inputs(
        rewrite(emitter.statements, loaded),
        names,
        views,
        bool(places),
        frozenset(emitter.rare_headers),
    )


def _unfused_inputs(lowerer: Lowerer, inputs: list[Value]) -> _Inputs:
    return _Inputs(
        [],
        [f"a{k}" for k in range(len(inputs))],
        [lowerer.materialize(value) for value in inputs],
    )


def _compute(elements: list[Element]) -> str:
    """Return the runtime's dtype of the arithmetic."""
    element = elements[0]
    if element.narrow:
        return "f32"
    return element.runtime


def _finish(region: Graph, start: Value, element: Element, reducer: str) -> Operand:
    """Combine the accumulator with a constant initial value; see _start for other ones."""
    number = splat(start)
    if number is None or number == identity_of(reducer, element):
        return "s0"
    statements, (result,) = region_statements(region, ["s0", literal(number, element)])
    return statements[0].value if len(statements) == 1 else result


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
        emitter, name = lowerer.emit(partial(_element_of, again.output), [again.output])
        lowerer.add_kernel(emitter, [Output(name, out)])


def _element_of(value: Value, emitter: Emitter) -> Operand:
    return emitter.value(value, counters(value.shape))
