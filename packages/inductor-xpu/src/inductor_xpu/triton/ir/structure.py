"""Functions that return early: their branches become scf.if."""

from __future__ import annotations

from ..errors import UnsupportedKernelError
from .clone import clone_op
from .program import Block, Op, Region, Value, make_op
from .types import Type

# Where all paths meet at the latest.
_END = Block()


def structure(function: Op) -> None:
    """Let a function have one block. Raises UnsupportedKernelError for branches back."""
    (region,) = function.regions
    if len(region.blocks) == 1:
        return
    entry = region.blocks[0]
    ops, results = _Structuring(function, region).convert(entry, _END, {})
    body = Block(entry.arguments, [*ops, make_op("tt.return", results, [])])
    function.regions = [Region([body])]


class _Structuring:
    def __init__(self, function: Op, region: Region) -> None:
        self.results: list[Type] = []
        for block in region.blocks:
            if block.terminator.name == "tt.return":
                self.results = [value.type for value in block.terminator.operands]
        self.meeting = _meeting_points(function, region)

    def convert(
        self, block: Block, stop: Block, values: dict[Value, Value]
    ) -> tuple[list[Op], list[Value]]:
        """Return the operations from a block until ``stop``, and what they pass on to it."""
        ops = [clone_op(op, values) for op in block.ops[:-1]]
        end = block.terminator
        if end.name == "tt.return":
            return ops, [values.get(value, value) for value in end.operands]
        if len(end.successors) == 1:
            target, passed = end.successors[0]
            more, results = self.follow(target, passed, stop, values)
            return ops + more, results
        meeting = self.meeting[block]
        types = self.results if meeting is _END else [a.type for a in meeting.arguments]
        condition = values.get(end.operands[0], end.operands[0])
        branch = make_op("scf.if", [condition], types, location=end.location)
        for target, passed in end.successors:
            inner, results = self.follow(target, passed, meeting, dict(values))
            inner.append(make_op("scf.yield", results, []))
            branch.regions.append(Region([Block(ops=inner)]))
        ops.append(branch)
        if meeting is stop:
            return ops, branch.results
        values.update(zip(meeting.arguments, branch.results, strict=True))
        more, results = self.convert(meeting, stop, values)
        return ops + more, results

    def follow(
        self, target: Block, passed: list[Value], stop: Block, values: dict[Value, Value]
    ) -> tuple[list[Op], list[Value]]:
        """Return the operations of a branch to a block, until ``stop``."""
        passed = [values.get(value, value) for value in passed]
        if target is stop:
            return [], passed
        values.update(zip(target.arguments, passed, strict=True))
        return self.convert(target, stop, values)


def _meeting_points(function: Op, region: Region) -> dict[Block, Block]:
    """Return of each block the first one that all paths from it go through."""
    following: dict[Block, list[Block]] = {_END: [_END]}  # blocks on all paths, nearest first
    active: set[Block] = set()

    def visit(block: Block) -> list[Block]:
        if block in following:
            return following[block]
        if block in active:
            raise UnsupportedKernelError(
                "cf.br", "loops that return are not supported on xpu", function.location
            )
        active.add(block)
        paths = [visit(target) for target, _ in block.terminator.successors] or [[_END]]
        common = [b for b in paths[0] if all(b in path for path in paths)]
        following[block] = [block, *common]
        return following[block]

    return {block: visit(block)[1] for block in region.blocks}
