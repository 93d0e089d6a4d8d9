"""Operations that rename the positions of elements: what they read for an element of their result."""

from __future__ import annotations

from collections.abc import Callable

from .ir.program import Op, Value
from .ir.types import shape_of
from .layouts import Position, Source, reshape_position

# The values that an element is made of, each with the position at which it is read.
Requests = list[tuple[Value, Position]]


def _splat(op: Op, index: int, position: Position) -> Requests:
    return [(op.operands[0], ())]


def _expand_dims(op: Op, index: int, position: Position) -> Requests:
    axis = op.attributes["axis"]
    return [(op.operands[0], position[:axis] + position[axis + 1 :])]


def _broadcast(op: Op, index: int, position: Position) -> Requests:
    sizes = shape_of(op.operands[0].type)
    source = tuple(() if size == 1 else at for size, at in zip(sizes, position, strict=True))
    return [(op.operands[0], source)]


def _trans(op: Op, index: int, position: Position) -> Requests:
    order = op.attributes["order"]
    source: list[tuple[Source, ...]] = [()] * len(order)
    for dim, of in enumerate(order):
        source[of] = position[dim]
    return [(op.operands[0], tuple(source))]


def _reshape(op: Op, index: int, position: Position) -> Requests:
    source = op.operands[0]
    shapes = shape_of(op.result.type), shape_of(source.type)
    return [(source, reshape_position(position, *shapes))]


def _split(op: Op, index: int, position: Position) -> Requests:
    return [(op.operands[0], (*position, (index,)))]


def _join(op: Op, index: int, position: Position) -> Requests:
    return [(operand, position[:-1]) for operand in op.operands]


def _cat(op: Op, index: int, position: Position) -> Requests:
    source = (position[0][:-1], *position[1:])
    return [(operand, source) for operand in op.operands]


# An operation takes one operand's element, or one of two by the bit of the position that SELECTING gives.
RENAMING: dict[str, Callable[[Op, int, Position], Requests]] = {
    "tt.splat": _splat,
    "tt.expand_dims": _expand_dims,
    "tt.broadcast": _broadcast,
    "tt.trans": _trans,
    "tt.reshape": _reshape,
    "tt.split": _split,
    "tt.join": _join,
    "tt.cat": _cat,
}
SELECTING: dict[str, Callable[[Position], Source]] = {
    "tt.join": lambda position: position[-1][0],
    "tt.cat": lambda position: position[0][-1],
}
