"""Lowerings of factorizations and triangular systems, in place on copies."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

from ..graph import Node, Value
from ..lower import Lowerer, lowering
from ..plan import View, make_step
from ..types import ELEMENTS, Type

_F32 = ELEMENTS["f32"]


@lowering("cholesky")
def cholesky(lowerer: Lowerer, node: Node) -> None:
    """Compute the lower factor; the upper one is that of the transposed view."""
    with _changed(lowerer, node.output, node.inputs[0]) as matrices:
        if matrices is None:
            return
        if not node.attributes.get("lower", False):
            matrices = _transposed(matrices)
        info = _zeros(lowerer, matrices.shape[0])
        _add(lowerer, "cholesky", {}, {"a": matrices, "info": info})


@lowering("triangular_solve")
def triangular_solve(lowerer: Lowerer, node: Node) -> None:
    """Solve A X = B; X A = B is A^T X^T = B^T, and other forms are views of the matrix too."""
    given = node.attributes
    left, transposed = given["left_side"], given["transpose_a"] != "NO_TRANSPOSE"
    with _changed(lowerer, node.output, node.inputs[1]) as unknowns:
        if unknowns is None:
            return
        matrix = _batch(lowerer, node.inputs[0])
        if transposed == left:
            matrix = _transposed(matrix)
        _add(
            lowerer,
            "solve_triangle",
            {"a": matrix},
            {"x": unknowns if left else _transposed(unknowns)},
            upper=given["lower"] == (transposed == left),
            unit=given["unit_diagonal"],
            conjugate=given["transpose_a"] == "ADJOINT" and matrix.element.kind == "complex",
        )


@lowering("custom_call@xpu_lu")
def lu(lowerer: Lowerer, node: Node) -> None:
    """Compute L and U in one matrix, LAPACK's pivots, and the permutation of rows."""
    result, *counts = node.outputs
    numbers = [lowerer.result(value) for value in counts]
    with _changed(lowerer, result, node.inputs[0]) as matrices:
        if matrices is None:
            return
        batch = matrices.shape[0]
        pivots, permutation = (
            view.with_layout((batch, view.shape[-1]), (view.shape[-1], 1)) for view in numbers
        )
        info = _zeros(lowerer, batch)
        writes = {"a": matrices, "pivots": pivots, "permutation": permutation, "info": info}
        _add(lowerer, "lu", {}, writes)


@contextmanager
def _changed(lowerer: Lowerer, result: Value, source: Value) -> Iterator[View | None]:
    """Yield the result, which holds a copy of the source, as one batch; None if it is empty.

    Floats too narrow for factorizations are f32 meanwhile.
    """
    view = lowerer.materialize(source)
    out = lowerer.result(result)
    work = lowerer.new(Type(_F32, out.shape)) if out.element.narrow else out
    lowerer.copy(work, view)
    yield _one_batch(work) if result.type.count else None
    if work is not out:
        lowerer.copy(out, work)


def _batch(lowerer: Lowerer, value: Value) -> View:
    view = lowerer.materialize(value)
    if view.element.narrow:
        wide = lowerer.new(Type(_F32, view.shape))
        lowerer.copy(wide, view)
        return _one_batch(wide)
    joined = view.reshaped((math.prod(view.shape[:-2]), *view.shape[-2:]))
    return joined or _one_batch(lowerer.contiguous(value))


def _one_batch(view: View) -> View:
    shape = (math.prod(view.shape[:-2]), *view.shape[-2:])
    return view.with_layout(shape, Type(view.element, shape).strides)


def _transposed(view: View) -> View:
    (batch, rows, columns), (step, down, right) = view.shape, view.strides
    return view.with_layout((batch, columns, rows), (step, right, down))


def _zeros(lowerer: Lowerer, count: int) -> View:
    info = lowerer.new(Type(ELEMENTS["i32"], (count,)))
    lowerer.add(make_step("fill", {}, {"out": info}, pattern=bytes(4).hex()))
    return info


def _add(
    lowerer: Lowerer, name: str, reads: dict[str, View], writes: dict[str, View], **fields: object
) -> None:
    """Add a step that reads the arrays that it changes."""
    step = make_step(name, reads, writes, **fields)
    step.reads.extend(view.buffer for view in writes.values())
    lowerer.add(step)
