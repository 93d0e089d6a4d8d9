"""Lowering of dot_general to batched matrix products."""

from __future__ import annotations

import math

from ..graph import Node
from ..lower import Lowerer, lowering
from ..plan import MAX_DIMENSIONS, View, make_step, reshaped_strides
from ..types import ELEMENTS, Type, row_major
from .complex_products import of_parts


@lowering("dot_general")
def dot_general(lowerer: Lowerer, node: Node) -> None:
    """Add a matrix product of views, whose dimensions are permuted by strides and joined."""
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
    a, b = (_widen(lowerer, view, out) for view in (a, b))
    if len(batch) + 2 > MAX_DIMENSIONS:
        batch = (math.prod(batch),)
        a = _contiguous(lowerer, a, (*batch, rows, depth))
        b = _contiguous(lowerer, b, (*batch, depth, columns))
    shape = (*batch, rows, columns)
    if out.contiguous:
        c = out.with_layout(shape, row_major(shape))
        lowerer.add(make_step("matmul", {"a": a, "b": b}, {"c": c}))
        return
    # The product of the transposed operands in exchanged order is the transposed result.
    transposed = _transposed(shape)
    c = out.with_layout(transposed, row_major(transposed))
    if c.with_layout(shape, _transposed(c.strides)).reshaped(out.shape) == out:
        a, b = (
            view.with_layout(_transposed(view.shape), _transposed(view.strides)) for view in (b, a)
        )
        lowerer.add(make_step("matmul", {"a": a, "b": b}, {"c": c}))
        return
    c = lowerer.new(Type(out.element, shape))
    lowerer.add(make_step("matmul", {"a": a, "b": b}, {"c": c}))
    lowerer.copy(out, c.with_layout(out.shape, row_major(out.shape)))


def _wrapped(lowerer: Lowerer, node: Node) -> None:
    """Lower products of at most 8 bits, which wrap, by 32-bit ones: the runtime's 8-bit results saturate."""
    byte, out = ELEMENTS["i8"], node.output.type
    # The lowest bits of a product depend only on the factors' lowest bits, with or without a sign.
    bytes = [
        value
        if value.type.element == byte
        else Node("convert", [value], [Type(byte, value.shape)]).output
        for value in node.inputs
    ]
    sums = Node("dot_general", bytes, [Type(ELEMENTS["i32"], out.shape)], node.attributes)
    dot_general(lowerer, sums)
    lowerer.views[node.output] = lowerer.materialize(Node("convert", [sums.output], [out]).output)


def _transposed(numbers: tuple[int, ...]) -> tuple[int, ...]:
    """Return shape or strides of the transposed matrices."""
    return (*numbers[:-2], numbers[-1], numbers[-2])


def _matrices(lowerer: Lowerer, view: View, order: list[list[int]], shape: tuple[int, ...]) -> View:
    """Return the view as matrices; copy it if rows or columns have no single stride."""
    batch, *sides = order
    dims = [dim for group in order for dim in group]
    strides = [view.strides[d] for d in batch]
    for side, size in zip(sides, shape[-2:], strict=True):
        part = reshaped_strides(
            tuple(view.shape[d] for d in side), tuple(view.strides[d] for d in side), (size,)
        )
        if part is None:
            transposed = view.with_layout(
                tuple(view.shape[d] for d in dims), tuple(view.strides[d] for d in dims)
            )
            copy = lowerer.new(Type(view.element, transposed.shape))
            lowerer.copy(copy, transposed)
            return copy.with_layout(shape, Type(view.element, shape).strides)
        strides += part
    return view.with_layout(shape, tuple(strides))


def _contiguous(lowerer: Lowerer, view: View, shape: tuple[int, ...]) -> View:
    """Return the view in another shape; copy it if it is not contiguous."""
    copy = view if view.contiguous else lowerer.new(view.type)
    if copy is not view:
        lowerer.copy(copy, view)
    return copy.with_layout(shape, row_major(shape))


def _widen(lowerer: Lowerer, view: View, out: View) -> View:
    """Return an operand in a dtype that the runtime can multiply for this result."""
    same = view.element == out.element
    # Products of narrow floats are computed in f32.
    widened = view.element.kind == "float" and out.element.name in ("f16", "bf16", "f32")
    bytes_into_ints = view.element.name in ("i8", "ui8") and out.element.name == "i32"
    if same or (widened and view.element.size <= out.element.size) or bytes_into_ints:
        return view
    copy = lowerer.new(Type(ELEMENTS[out.element.name], view.shape))
    lowerer.copy(copy, view)
    return copy
