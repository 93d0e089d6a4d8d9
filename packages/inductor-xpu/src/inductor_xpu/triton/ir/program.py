"""A program of Triton's IR: operations, values and regions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from .locations import Location
from .types import Type


@dataclass(eq=False)
class Value:
    """A value: the result of an operation, or an argument of a block if ``op`` is None."""

    type: Type
    op: Op | None = None
    index: int = 0
    block: Block | None = None


@dataclass(eq=False)
class Op:
    """An operation; ``attributes`` holds its properties too."""

    name: str
    operands: list[Value]
    results: list[Value] = field(default_factory=list)
    attributes: dict[str, Any] = field(default_factory=dict)
    regions: list[Region] = field(default_factory=list)
    successors: list[tuple[Block, list[Value]]] = field(default_factory=list)
    location: Location | None = None

    @property
    def result(self) -> Value:
        """The only result."""
        (value,) = self.results
        return value

    @property
    def body(self) -> Block:
        """The only block of the only region."""
        (region,) = self.regions
        (block,) = region.blocks
        return block


@dataclass(eq=False)
class Block:
    """Operations in order; the last one ends the block."""

    arguments: list[Value] = field(default_factory=list)
    ops: list[Op] = field(default_factory=list)

    @property
    def terminator(self) -> Op:
        """The operation that ends the block."""
        return self.ops[-1]


@dataclass(eq=False)
class Region:
    """Blocks of an operation."""

    blocks: list[Block] = field(default_factory=list)


def make_op(name: str, operands: list[Value], types: list[Type], **fields: Any) -> Op:
    """Return an operation with results of the given types."""
    op = Op(name, operands, **fields)
    op.results = [Value(type, op, index) for index, type in enumerate(types)]
    return op


def walk(block: Block) -> Iterator[Op]:
    """Iterate over the operations of a block in order, each followed by those of its regions."""
    for op in block.ops:
        yield op
        for region in op.regions:
            for inner in region.blocks:
                yield from walk(inner)


def replace_uses(block: Block, replacements: dict[Value, Value]) -> None:
    """Replace operands in a block and its regions."""
    for op in walk(block):
        op.operands = [replacements.get(value, value) for value in op.operands]
        op.successors = [
            (target, [replacements.get(value, value) for value in values])
            for target, values in op.successors
        ]
