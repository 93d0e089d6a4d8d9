"""Matrix products."""

from __future__ import annotations

import math

from ..graph import Node
from ..lower import Lowerer, lowering
from ..plan import MAX_DIMENSIONS, View, make_step, reshaped_strides
from ..types import ELEMENTS, Type, row_major
from .complex_products import of_parts


@lowering("dot_general")
def dot_general(lowerer: Lowerer, node: Node) -> None:
    """Batched matrix products of views: dimensions are put in order by strides, and joined."""
    if node.output.type.element.kind == "complex" and node.output.type.count:
        of_parts(lowerer, node, dot_general)
        return
    if node.output.type.element.kind in ("int", "uint") and node.output.type.element.size == 1:
        _wrapped(lowerer, node)
        return
    numbers = node.attributes["dot_dimension_numbers"]
    left, right = (lowerer.materialize(value) for value in node.inputs)
    batch_l, batch_r = numbers["lhs_batching_dimensions"], numbers["rhs_batching_dimensions"]
    inner_l, inner_r = numbers["lhs_contracting_dimensions"], numbers["rhs_contracting_dimensions"]
    free_l = [d for d in range(len(left.shape)) if d not in batch_l and d not in inner_l]
    free_r = [d for d in range(len(right.shape)) if d not in batch_r and d not in inner_r]
    batch = tuple(left.shape[d] for d in batch_l)
    rows = math.prod(left.shape[d] for d in free_l)
    columns = math.prod(right.shape[d] for d in free_r)
    depth = math.prod(left.shape[d] for d in inner_l)
    out = lowerer.transposed_result(node.output)
    if not out.type.count:
        return
    a = _matrices(lowerer, left, [batch_l, free_l, inner_l], (*batch, rows, depth))
    b = _matrices(lowerer, right, [batch_r, inner_r, free_r], (*batch, depth, columns))
    a, b = (_as_wide(lowerer, view, out) for view in (a, b))
    if len(batch) + 2 > MAX_DIMENSIONS:
        batch = (math.prod(batch),)
        a = _in_order(lowerer, a, (*batch, rows, depth))
        b = _in_order(lowerer, b, (*batch, depth, columns))
    shape = (*batch, rows, columns)
    if out.contiguous:
        c = out.with_layout(shape, row_major(shape))
        lowerer.add(make_step("matmul", {"a": a, "b": b}, {"c": c}))
        return
    # The product of the operands turned and exchanged is the result turned.
    turned = _turned(shape)
    c = out.with_layout(turned, row_major(turned))
    if c.with_layout(shape, _turned(c.strides)).reshaped(out.shape) == out:
        a, b = (view.with_layout(_turned(view.shape), _turned(view.strides)) for view in (b, a))
        lowerer.add(make_step("matmul", {"a": a, "b": b}, {"c": c}))
        return
    c = lowerer.new(Type(out.element, shape))
    lowerer.add(make_step("matmul", {"a": a, "b": b}, {"c": c}))
    lowerer.copy(out, c.with_layout(out.shape, row_major(out.shape)))


def _wrapped(lowerer: Lowerer, node: Node) -> None:
    """Bytes, and integers of fewer bits, wrap; the runtime's own results of bytes would saturate."""
    byte, out = ELEMENTS["i8"], node.output.type
    # The lowest bits of a product are those of the factors' lowest bits, with or without a sign.
    bytes = [
        value
        if value.type.element == byte
        else Node("convert", [value], [Type(byte, value.shape)]).output
        for value in node.inputs
    ]
    sums = Node("dot_general", bytes, [Type(ELEMENTS["i32"], out.shape)], node.attributes)
    dot_general(lowerer, sums)
    lowerer.views[node.output] = lowerer.materialize(Node("convert", [sums.output], [out]).output)


def _turned(numbers: tuple[int, ...]) -> tuple[int, ...]:
    """Shape or strides of matrices whose rows become columns."""
    return (*numbers[:-2], numbers[-1], numbers[-2])


def _matrices(lowerer: Lowerer, view: View, order: list[list[int]], shape: tuple[int, ...]) -> View:
    """The view as matrices; what makes rows, and columns, must be one stride, or is copied."""
    batch, *sides = order
    dims = [dim for group in order for dim in group]
    strides = [view.strides[d] for d in batch]
    for side, size in zip(sides, shape[-2:], strict=True):
        part = reshaped_strides(
            tuple(view.shape[d] for d in side), tuple(view.strides[d] for d in side), (size,)
        )
        if part is None:
            turned = view.with_layout(
                tuple(view.shape[d] for d in dims), tuple(view.strides[d] for d in dims)
            )
            copy = lowerer.new(Type(view.element, turned.shape))
            lowerer.copy(copy, turned)
            return copy.with_layout(shape, Type(view.element, shape).strides)
        strides += part
    return view.with_layout(shape, tuple(strides))


def _in_order(lowerer: Lowerer, view: View, shape: tuple[int, ...]) -> View:
    """The view, copied where it is not row-major, in another shape."""
    copy = view if view.contiguous else lowerer.new(view.type)
    if copy is not view:
        lowerer.copy(copy, view)
    return copy.with_layout(shape, row_major(shape))


def _as_wide(lowerer: Lowerer, view: View, out: View) -> View:
    """Operands in a dtype that products of this result take."""
    same = view.element == out.element
    # Of narrow floats products are made in f32.
    widened = view.element.kind == "float" and out.element.name in ("f16", "bf16", "f32")
    bytes_into_ints = view.element.name in ("i8", "ui8") and out.element.name == "i32"
    if same or (widened and view.element.size <= out.element.size) or bytes_into_ints:
        return view
    copy = lowerer.new(Type(ELEMENTS[out.element.name], view.shape))
    lowerer.copy(copy, view)
    return copy
