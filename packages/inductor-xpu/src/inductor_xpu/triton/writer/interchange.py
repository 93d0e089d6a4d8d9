"""Loops of the user's on elements: each element runs all trips, so that what is carried is in registers."""

from __future__ import annotations

from collections.abc import Sequence

from ..elements import memory_size
from ..ir.program import Block, Op, Value
from ..ir.types import Tensor
from ..layouts import Position
from ..operators import is_elementwise
from ..shapes import RENAMING
from .group import Expr, Scope
from .kernel import KernelWriter
from .memory import await_stores, pointee, read

# The bytes from what one trip reads to what the next one reads, with which caches keep up.
_MAX_DISTANCE = 32 << 10
_PURE = {"tt.make_range", "tt.addptr", "llvm.intr.assume", *RENAMING}


def can_interchange(writer: KernelWriter, op: Op) -> bool:
    """Return True for a loop that carries tiles of one layout and computes on elements alone."""
    if op in writer.plan.no_interchange or writer.interchanged is not None:
        return False
    blocks = [region.blocks[0] for region in op.regions]
    carried = [*op.results, *(value for block in blocks for value in block.arguments)]
    tiles = [value for value in carried if isinstance(value.type, Tensor)]
    if not tiles:
        return False
    structures = {writer.choice.of(value).structure for value in tiles}
    scalars = [value for value in op.results if not isinstance(value.type, Tensor)]
    if len(structures) > 1 or any(writer.choice.uses.of(value) for value in scalars):
        return False
    ops = [inner for block in blocks for inner in block.ops[:-1]]
    if not all(_is_elementwise(writer, inner, structures) for inner in ops):
        return False
    return op.name == "scf.while" or all(
        _is_near(writer, op, inner) for inner in ops if inner.name == "tt.load"
    )


def _is_near(writer: KernelWriter, loop: Op, load: Op) -> bool:
    """Return True if the trips of a loop read memory that is close together."""
    pointer = load.operands[0]
    strides = writer.choice.strides
    growth, step = (
        strides.growth(pointer, loop.body.arguments[0]),
        strides.constant(loop.operands[2]),
    )
    if growth is None or step is None:
        return False
    return abs(growth * step) * memory_size(pointee(pointer)) <= _MAX_DISTANCE


def _is_elementwise(writer: KernelWriter, op: Op, structures: set[tuple[object, ...]]) -> bool:
    if op.name == "tt.load":
        is_tile = isinstance(op.result.type, Tensor)
        return is_tile and writer.choice.of(op.result).structure in structures
    return op.name in _PURE or is_elementwise(op)


def emit_interchanged(writer: KernelWriter, op: Op) -> None:
    """Write a loop within a loop over registers."""
    for block in (region.blocks[0] for region in op.regions):
        for inner in block.ops:
            if inner.name == "tt.load":
                await_stores(writer, inner.operands[0])
    tile = next(value for value in op.results if isinstance(value.type, Tensor))
    writer.open(op, writer.choice.of(tile))
    _Interchange(writer, op).write()


class _Interchange:
    """A loop of the user's in the open loop over registers."""

    def __init__(self, writer: KernelWriter, op: Op) -> None:
        assert writer.group is not None
        self.writer, self.op, self.group = writer, op, writer.group
        self.outer = self.group.scopes[-1]
        self.depth = self.group.depth + 1

    def position(self, value: Value) -> Position:
        """Return where a value that the loop carries is read."""
        if not isinstance(value.type, Tensor):
            return ()
        return self.group.position(self.writer.choice.of(value))

    def texts(self, values: Sequence[Value], carried: Sequence[Value]) -> list[str]:
        """Return the texts of values that have the layouts of those that the loop carries."""
        return [
            read(self.writer, value, self.position(like)).address
            for value, like in zip(values, carried, strict=True)
        ]

    def declare(self, values: Sequence[Value], prefix: str, texts: Sequence[str] = ()) -> list[str]:
        """Declare variables before the loop, with their first values if there are ``texts``."""
        names = [self.writer.name(prefix) for _ in values]
        for index, (value, name) in enumerate(zip(values, names, strict=True)):
            first = f" = {texts[index]}" if texts else ""
            self.outer.lines.append(f"{self.writer.type_of(value)} {name}{first};")
        return names

    def write(self) -> None:
        op, blocks = self.op, [region.blocks[0] for region in self.op.regions]
        is_while = op.name == "scf.while"
        arguments = blocks[0].arguments if is_while else blocks[0].arguments[1:]
        initial = op.operands if is_while else op.operands[3:]
        bounds = [] if is_while else [read(self.writer, v, ()).text for v in op.operands[:3]]
        names = self.declare(arguments, "c", self.texts(initial, arguments))
        scope = Scope()
        self.group.scopes.append(scope)
        self.group.has_loop = True
        self.writer.interchanged = op
        self.bind(arguments, names)
        if is_while:
            head = "for (;;) {"
            results = self.write_while(names)
        else:
            counter, name = blocks[0].arguments[0], self.writer.name("iv")
            self.bind([counter], [name])
            lower, upper, step = bounds
            type = self.writer.type_of(counter)
            head = f"for ({type} {name} = {lower}; {name} < {upper}; {name} += {step}) {{"
            results = names
            self.write_trip(blocks[0], arguments, names)
        self.writer.interchanged = None
        self.group.scopes.pop()
        self.outer.lines += [head, *(f"  {line}" for line in scope.lines), "}"]
        for result, name in zip(op.results, results, strict=True):
            if isinstance(result.type, Tensor):
                position = self.position(result)
                expr = self.writer.let(self.writer.type_of(result), name, self.group.depth)
                self.outer.memo[result, position] = expr
                layout = self.writer.choice.of(result)
                self.writer.keep_element(result, layout, position, expr.text)

    def bind(self, values: Sequence[Value], names: Sequence[str]) -> None:
        """Let values be variables in the loop."""
        for value, name in zip(values, names, strict=True):
            self.group.scopes[-1].memo[value, self.position(value)] = Expr(name, self.depth)

    def write_loads(self, block: Block) -> None:
        """Write the loads of a block; all else is computed where it is used."""
        for op in block.ops:
            if op.name == "tt.load":
                self.writer.process(op)
        self.writer.current = self.op

    def write_trip(self, block: Block, carried: Sequence[Value], names: Sequence[str]) -> None:
        """Write a trip, and give the variables the values of the next one."""
        self.write_loads(block)
        lines = self.group.scopes[-1].lines
        following = []
        for value, text in zip(
            carried, self.texts(block.terminator.operands, carried), strict=True
        ):
            following.append(self.writer.name())
            lines.append(f"const {self.writer.type_of(value)} {following[-1]} = {text};")
        lines += [f"{name} = {value};" for name, value in zip(names, following, strict=True)]

    def write_while(self, names: Sequence[str]) -> list[str]:
        """Write a trip of a loop with a condition, and return the names of the results."""
        before, after = (region.blocks[0] for region in self.op.regions)
        self.write_loads(before)
        condition, *forwarded = before.terminator.operands
        results = self.declare(self.op.results, "t")
        lines = self.group.scopes[-1].lines
        texts = self.texts(forwarded, self.op.results)
        lines += [f"{name} = {text};" for name, text in zip(results, texts, strict=True)]
        lines.append(f"if (!{read(self.writer, condition, ()).text}) break;")
        # The variables that the loop carries change only at the trip's end, so results need no copies.
        self.bind(after.arguments, results)
        self.write_trip(after, before.arguments, names)
        return results
