"""The writer of a kernel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xpu_runtime.codegen.target import Target

from ..ir.facts import IntegerFacts
from ..ir.program import Block, Op, Value, walk
from ..layout_choice import LayoutChoice
from ..layouts import Place
from ..plan import Plan
from .group import Expr, LocalBuffer
from .storage import Storage
from .values import ValueWriter


class KernelWriter(ValueWriter):
    """Writes the body of a kernel, one operation after another."""

    def __init__(
        self,
        function: Op,
        plan: Plan,
        choice: LayoutChoice,
        facts: IntegerFacts,
        target: Target,
        storage: Storage,
    ) -> None:
        super().__init__(plan, choice, facts, target, storage)
        self.order = {
            value: number for number, op in enumerate(walk(function.body)) for value in op.results
        }
        self._blocks = {op: block for block in _blocks(function.body) for op in block.ops}
        self.depths = dict(_loop_depths(function.body, 0))
        self.scalars, self.arrays, self.waiting = {}, {}, {}
        self.successions, self.superseded = {}, {}
        self.demands, self.repeated, self.loops = {}, set(), []
        # Tiles that are in local memory for products, and the order of their elements.
        self.staged: dict[tuple[Value, tuple[Place, ...]], LocalBuffer] = {}
        self.hoisted, self.preheaders = {}, []

    def is_in_block_of(self, op: Op, value: Value) -> bool:
        """Return True if an operation runs as often as the one that computes a value."""
        return value.op is not None and self._blocks.get(value.op) is self._blocks[op]

    def inline(self, block: Block, arguments: Sequence[str], lines: list[str]) -> list[str]:
        """Write a region of scalars into ``lines`` and return the texts of its results."""
        outer = self.group, self.lines, self.current
        self.group, self.lines = None, lines
        for value, text in zip(block.arguments, arguments, strict=True):
            self.scalars[value] = Expr(text)
        for op in block.ops[:-1]:
            self.process(op)
        results = [self.scalar(value).text for value in block.terminator.operands]
        self.group, self.lines, self.current = outer
        return results

    def process(self, op: Op) -> None:
        """Write an operation; see emit.py, which has the table of those with effects."""
        from .emit import emit

        emit(self, op)


def _loop_depths(block: Block, depth: int) -> Iterator[tuple[Op, int]]:
    """Iterate over operations, each with the number of loops around it."""
    for op in block.ops:
        yield op, depth
        inner = depth + (op.name in ("scf.for", "scf.while"))
        for region in op.regions:
            for nested in region.blocks:
                yield from _loop_depths(nested, inner)


def _blocks(block: Block) -> Iterator[Block]:
    yield block
    for op in block.ops:
        for region in op.regions:
            for inner in region.blocks:
                yield from _blocks(inner)
