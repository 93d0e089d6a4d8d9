"""Copies of operations."""

from __future__ import annotations

from .program import Block, Op, Region, Value


def clone_op(op: Op, values: dict[Value, Value]) -> Op:
    """Return a copy of an operation and its regions.

    ``values`` gives the copies of values that exist, and takes the new ones.
    """
    copy = Op(
        op.name,
        [values.get(value, value) for value in op.operands],
        attributes=op.attributes,
        location=op.location,
    )
    copy.results = [Value(value.type, copy, value.index) for value in op.results]
    values.update(zip(op.results, copy.results, strict=True))
    for region in op.regions:
        copy.regions.append(Region([_clone_block(block, values) for block in region.blocks]))
    return copy


def _clone_block(block: Block, values: dict[Value, Value]) -> Block:
    copy = Block()
    copy.arguments = [Value(a.type, index=a.index, block=copy) for a in block.arguments]
    values.update(zip(block.arguments, copy.arguments, strict=True))
    copy.ops = [clone_op(op, values) for op in block.ops]
    return copy
