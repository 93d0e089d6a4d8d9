"""Lowerings of reduce_window and select_and_scatter."""

from __future__ import annotations

import math
from contextlib import ExitStack

import numpy as np
from xpu_runtime.codegen.affine import Coordinates, counters, dot
from xpu_runtime.codegen.literals import literal
from xpu_runtime.codegen.statements import Term

from ..elementwise import headers_of
from ..emit import Emitter
from ..graph import Graph, Node, Value
from ..lower import Lowerer, lowering
from ..plan import View, make_step
from ..reducers import IDENTITIES, identity_of
from ..regions import as_expression, rare_headers, reducer_of, region_expression
from ..splats import splat
from ..types import ELEMENTS, Type, row_major
from .window_loops import Window, add_loops, walk, windows_of

# Larger windows are reduced dimension by dimension, if the order does not matter, ...
_MANY = 32
# ... and larger ones of one dimension by scans that neighboring windows share.
_LONG = 64


@lowering("reduce_window")
def reduce_window(lowerer: Lowerer, node: Node) -> None:
    """Loop over the window of each result element, unless the window is large."""
    count = len(node.inputs) // 2
    inputs, starts, region = node.inputs[:count], node.inputs[count:], node.regions[0]
    if not node.output.type.count:
        for value in node.outputs:
            lowerer.result(value)
        return
    windows = windows_of(node.attributes, len(node.output.shape))
    if count == 1:
        if (dim := _cumulative(windows, inputs[0].shape)) is not None and _scans(region, starts[0]):
            result = _scan(lowerer, inputs[0], starts[0], region, dim, windows[dim].low == 0)
            lowerer.views[node.output] = result
            return
        size = math.prod(window.size for window in windows)
        if size > _MANY and _is_order_free(region, starts[0]):
            lowerer.views[node.output] = _by_dimensions(lowerer, node, windows)
            return
    add_loops(lowerer, inputs, starts, region, windows, node.outputs)


def _is_order_free(region: Graph, start: Value) -> bool:
    """Return True if the order does not matter and the initial value is the identity."""
    reducer, element = reducer_of(region), start.type.element
    known = reducer in IDENTITIES and (element.kind != "complex" or reducer in ("add", "multiply"))
    number = splat(start)
    return known and number is not None and number == identity_of(reducer, element)


def _scans(region: Graph, start: Value) -> bool:
    return _is_order_free(region, start) or (not reducer_of(region) and splat(start) is not None)


def _cumulative(windows: list[Window], shape: tuple[int, ...]) -> int | None:
    """Return the dimension along which every window reaches to an end of the array."""
    dims = [dim for dim, window in enumerate(windows) if not window.trivial]
    if len(dims) != 1:
        return None
    (dim,) = dims
    size = windows[dim].size
    ends = (Window(size, low=size - 1), Window(size, high=size - 1))
    return dim if size >= shape[dim] and windows[dim] in ends else None


def _scan(
    lowerer: Lowerer,
    source: Value,
    start: Value,
    region: Graph,
    dim: int,
    reverse: bool,
    exclusive: bool = False,
) -> View:
    element = source.type.element
    number = splat(start)
    view = lowerer.with_max_dims(source)
    out, combine = lowerer.new(source.type), region_expression(region, ["a", "b"])
    lowerer.add(
        make_step(
            "scan",
            {"in": view},
            {"out": out},
            combine=combine,
            identity=as_expression(literal(number, element)),
            headers=headers_of(rare_headers(region)),
            dim=dim,
            reverse=reverse,
            exclusive=exclusive,
        )
    )
    return out


def _by_dimensions(lowerer: Lowerer, node: Node, windows: list[Window]) -> View:
    source, start = node.inputs
    region, type = node.regions[0], source.type
    rounds = type.element.narrow and reducer_of(region) in ("add", "multiply")
    if rounds:  # once, after the last dimension
        wide = Type(ELEMENTS["f32"], source.shape)
        source = Node("convert", [source], [wide]).output
        number = np.array([splat(start)]).astype(np.float32)
        start = Node("constant", [], [Type(wide.element, ())], {"value": number}).output
    for dim, window in enumerate(windows):
        if not window.trivial:
            source = _along(lowerer, source, start, region, dim, window)
    if rounds:
        source = Node("convert", [source], [Type(type.element, source.shape)]).output
    return lowerer.materialize(source)


def _along(
    lowerer: Lowerer, source: Value, start: Value, region: Graph, dim: int, window: Window
) -> Value:
    """Reduce windows along one dimension."""
    shape = source.shape
    lowerer.materialize(source)
    sizes = tuple(window.result(n) if d == dim else n for d, n in enumerate(shape))
    result = Value(Type(source.type.element, sizes), None, 0)
    windows = [window if d == dim else Window() for d in range(len(shape))]
    if _cumulative(windows, shape) is not None:
        lowerer.views[result] = _scan(lowerer, source, start, region, dim, window.low == 0)
    elif window.size > _LONG and window.dilation == 1:
        return _of_two_parts(lowerer, source, start, region, dim, window, result.type)
    else:
        add_loops(lowerer, [source], [start], region, windows, [result])
    return result


def _of_two_parts(
    lowerer: Lowerer,
    source: Value,
    start: Value,
    region: Graph,
    dim: int,
    window: Window,
    type: Type,
) -> Value:
    """Combine, for each window, the end of one block of the window's length and the start of the next."""
    shape, size = source.shape, window.size
    blocks = -(-((type.shape[dim] - 1) * window.stride + size) // size) + 1
    length = blocks * size
    extent = (shape[dim] - 1) * window.base + 1
    low, interior = [0] * len(shape), [0] * len(shape)
    high = [0] * len(shape)
    low[dim], interior[dim] = window.low, window.base - 1
    high[dim] = length - window.low - extent
    attributes = {
        "edge_padding_low": low,
        "edge_padding_high": high,
        "interior_padding": interior,
    }
    whole = tuple(length if d == dim else n for d, n in enumerate(shape))
    divided = (*shape[:dim], blocks, size, *shape[dim + 1 :])
    element = source.type.element
    padded = Node("pad", [source, start], [Type(element, whole)], attributes).output
    lowerer.materialize(padded)
    in_blocks = Node("reshape", [padded], [Type(element, divided)]).output
    ends = _scan(lowerer, in_blocks, start, region, dim + 1, reverse=True)
    starts = _scan(lowerer, in_blocks, start, region, dim + 1, reverse=False, exclusive=True)
    parts = []
    for view, offset in ((ends, 0), (starts, size)):
        strides = list(row_major(whole))
        part = Value(type, None, 0)
        offset *= strides[dim]
        strides[dim] *= window.stride
        lowerer.views[part] = view.with_layout(type.shape, tuple(strides), offset)
        parts.append(part)
    return Node(reducer_of(region), parts, [type]).output


@lowering("select_and_scatter")
def select_and_scatter(lowerer: Lowerer, node: Node) -> None:
    """Find each window's selected element; then combine, for each element, the windows that selected it."""
    operand, source, start = node.inputs
    select, scatter = node.regions
    windows = windows_of(node.attributes, len(operand.shape))
    if not operand.type.count:
        lowerer.result(node.output)
        return
    index = ELEMENTS["i32" if operand.type.count < 2**31 else "i64"]
    chosen = Value(Type(index, source.shape), None, 0)
    lowerer.views[chosen] = lowerer.new(chosen.type)
    strides = row_major(operand.shape)

    def choose(emitter: Emitter) -> list[str]:
        best = emitter.variable(operand.type.element, f"{operand.type.element.math}(0)")
        where = emitter.variable(index, "-1")

        def visit(inside: Coordinates, within: Coordinates) -> None:
            value = emitter.value(operand, inside)
            (keeps,) = emitter.region(select, [best, value])
            with emitter.where(Term("{0} < 0 || !({1})", (where, keeps))):
                emitter.set(best, value)
                emitter.set(where, dot(inside, strides))

        walk(emitter, windows, operand.shape, counters(source.shape), visit)
        return [where]

    def collect(emitter: Emitter) -> list[str]:
        total = emitter.variable(operand.type.element, emitter.value(start, ()))
        at = counters(operand.shape)
        own = dot(at, strides)
        inside = []
        with ExitStack() as stack:
            for window, size, place in zip(windows, source.shape, at, strict=True):
                if window.trivial:
                    inside.append(place)
                    continue
                # The windows that contain the element: those that begin at most a window's length before it.
                last = emitter.let("i64", "{0}", place + window.low)
                step = window.stride
                begin = f"{{0}} < {window.size} ? 0 : ({{0}} - {window.size}) / {step} + 1"
                end = emitter.let("i64", f"min_of((i64){size}, {{0}} / {step} + 1)", last)
                loop = emitter.loop(end, Term(begin, (last,)), "i64", "o")
                inside.append(stack.enter_context(loop))
            found = emitter.value(chosen, tuple(inside))
            with emitter.where(Term("{0} == {1}", (found, own))):
                given = emitter.value(source, tuple(inside))
                (result,) = emitter.region(scatter, [total, given])
                emitter.set(total, result)
        return [total]

    if source.type.count:
        lowerer.add_kernel(choose, [lowerer.views[chosen]], [operand])
    lowerer.add_kernel(collect, [lowerer.result(node.output)], [source, start, chosen])
