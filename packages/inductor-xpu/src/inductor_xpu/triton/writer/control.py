"""Loops and branches of the user's."""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.program import Block, Op, Value, walk
from ..ir.types import Tensor
from ..roots import root_of
from .group import Expr
from .interchange import can_interchange, emit_interchanged
from .kernel import KernelWriter
from .staging import stage

_STORES = ("tt.store", "tt.atomic_rmw", "tt.atomic_cas")


def _emit_block(writer: KernelWriter, block: Block) -> None:
    for op in block.ops[:-1]:
        writer.process(op)


def _end_block(writer: KernelWriter) -> None:
    """Forget loads that nothing in a block has used."""
    writer.waiting.clear()


def emit_for(writer: KernelWriter, op: Op) -> None:
    """Write a counted loop."""
    if can_interchange(writer, op):
        emit_interchanged(writer, op)
        return
    lower, upper, step = (writer.scalar(value).text for value in op.operands[:3])
    block = op.body
    counter, carried = block.arguments[0], block.arguments[1:]
    writer.close()
    _stage_operands(writer, op)
    _begin_carried(writer, op, carried, op.operands[3:])
    _expect(writer, block, carried, block.terminator.operands)
    name, type = writer.name("iv"), writer.type_of(counter)
    writer.scalars[counter] = Expr(name)
    head = f"for ({type} {name} = {lower}; {name} < {upper}; {name} += {step}) {{"
    _begin_loop(writer, op)
    with writer.nested(head):
        _emit_block(writer, block)
        _assign(writer, op, carried, block.terminator.operands)
        _end_block(writer)
    _end_loop(writer)
    _pass_on(writer, carried, op.results)


def emit_while(writer: KernelWriter, op: Op) -> None:
    """Write a loop with a condition."""
    if can_interchange(writer, op):
        emit_interchanged(writer, op)
        return
    before, after = (region.blocks[0] for region in op.regions)
    writer.close()
    _begin_carried(writer, op, before.arguments, op.operands)
    forwarded = before.terminator.operands[1:]
    _declare(writer, op.results)
    _expect(writer, after, before.arguments, after.terminator.operands)
    _begin_loop(writer, op)
    with writer.nested("for (;;) {"):
        _emit_block(writer, before)
        condition = writer.scalar(before.terminator.operands[0]).text
        writer.close()
        _assign_results(writer, op, op.results, forwarded)
        writer.close()
        writer.lines.append(f"if (!{condition}) break;")
        _pass_on(writer, op.results, after.arguments)
        _emit_block(writer, after)
        _assign(writer, op, before.arguments, after.terminator.operands)
        _end_block(writer)
    _end_loop(writer)


def emit_if(writer: KernelWriter, op: Op) -> None:
    """Write a branch."""
    condition = writer.scalar(op.operands[0]).text
    writer.close()
    _declare(writer, op.results)
    regions = [region.blocks[0] for region in op.regions if region.blocks]
    loaded, stored = set(writer.loaded), set(writer.stored)
    for block, head in zip(regions, (f"if ({condition}) {{", "else {"), strict=False):
        # A barrier in one branch is none for the other.
        writer.loaded, writer.stored = set(loaded), set(stored)
        with writer.nested(head):
            _emit_block(writer, block)
            _assign_results(writer, op, op.results, block.terminator.operands)
            _end_block(writer)
        loaded |= writer.loaded
        stored |= writer.stored
    writer.loaded, writer.stored = loaded, stored


def _declare(writer: KernelWriter, values: Sequence[Value]) -> None:
    """Declare variables and arrays for results."""
    for value in values:
        if isinstance(value.type, Tensor):
            writer.define_array(value, writer.choice.of(value))
        else:
            name = writer.name("t")
            writer.lines.append(f"{writer.type_of(value)} {name};")
            writer.scalars[value] = Expr(name)


def _begin_carried(
    writer: KernelWriter, op: Op, arguments: Sequence[Value], initial: Sequence[Value]
) -> None:
    """Define the variables and arrays that a loop carries, with the values of the first trip."""
    for argument, value in zip(arguments, initial, strict=True):
        if isinstance(argument.type, Tensor):
            continue
        name = writer.name("c")
        text = writer.scalar(value).address
        writer.lines.append(f"{writer.type_of(argument)} {name} = {text};")
        writer.scalars[argument] = Expr(name)
    for argument, value in zip(arguments, initial, strict=True):
        if isinstance(argument.type, Tensor):
            _fill(writer, op, argument, value)
    writer.close()


def _fill(writer: KernelWriter, op: Op, target: Value, value: Value) -> None:
    layout = writer.choice.of(target)
    group = writer.open(op, layout)
    position = group.position(layout)
    text = writer.element(value, position).address
    index = writer.index_text(layout, position)
    writer.write_element(target, layout, index, text, group.scopes[-1].lines)


def _expect(
    writer: KernelWriter, block: Block, arguments: Sequence[Value], values: Sequence[Value]
) -> None:
    """Let values of the next trip that the block computes be written to the arrays of those of this trip."""
    inner = set(block.ops)
    for argument, value in zip(arguments, values, strict=True):
        if isinstance(value.type, Tensor) and value.op in inner:
            writer.successions.setdefault(value, argument)
            writer.plan.keep(value)


def _begin_loop(writer: KernelWriter, op: Op) -> None:
    writer.storage.begin_loop()
    writer.loops.append(op)
    # The lines before the loop are complete when it ends.
    writer.preheaders.append(writer.lines)
    # What a trip stores and loads comes before the next trip.
    for inner in _walk_regions(op):
        if inner.name in _STORES:
            writer.stored.add(root_of(inner.operands[0], writer.choice.carried))
        if inner.name in ("tt.load", "tt.atomic_rmw", "tt.atomic_cas"):
            root = root_of(inner.operands[0], writer.choice.carried)
            writer.loaded.add((root, inner.operands[0]))


def _stage_operands(writer: KernelWriter, op: Op) -> None:
    """Write tiles that products in a loop use, and that are the same in all trips, to local memory once."""
    inside = set(_walk_regions(op))
    for inner in _walk_regions(op):
        if inner.name != "tt.dot":
            continue
        for side, value in enumerate(inner.operands[:2]):
            key = value, writer.choice.operand_order(inner, side)
            if value.op is not None and value.op not in inside and key not in writer.staged:
                writer.close()
                writer.staged[key] = writer.operand_buffer(*key)
                stage(writer, op, value, writer.staged[key])
    writer.close()


def _walk_regions(op: Op) -> list[Op]:
    """Return all operations within an operation."""
    return [inner for region in op.regions for block in region.blocks for inner in walk(block)]


def _end_loop(writer: KernelWriter) -> None:
    writer.storage.end_loop()
    writer.loops.pop()
    writer.preheaders.pop()


def _assign(
    writer: KernelWriter, op: Op, arguments: Sequence[Value], values: Sequence[Value]
) -> None:
    """Give the variables and arrays of a loop the values of the next trip."""
    writer.current = op
    tiles: list[tuple[Value, Value]] = []
    scalars: list[tuple[str, str, str]] = []
    for argument, value in zip(arguments, values, strict=True):
        if argument is value:
            continue
        if isinstance(argument.type, Tensor):
            if writer.superseded.get(argument) is not value:
                tiles.append((argument, value))
        else:
            text = writer.scalar(value).address
            scalars.append((writer.scalars[argument].text, text, writer.type_of(argument)))
    moved = {argument for argument, _ in tiles}
    late = [pair for pair in tiles if pair[1] in moved]
    copies = [(argument, _copy_of(writer, op, value)) for argument, value in late]
    for argument, value in tiles:
        if (argument, value) not in late:
            _overwrite(writer, op, argument, value)
    for argument, copy in copies:
        _overwrite(writer, op, argument, copy)
    writer.close()
    names = [writer.name() for _ in scalars]
    for name, (_, text, type) in zip(names, scalars, strict=True):
        writer.lines.append(f"const {type} {name} = {text};")
    writer.lines += [f"{s[0]} = {name};" for name, s in zip(names, scalars, strict=True)]


def _overwrite(writer: KernelWriter, op: Op, target: Value, value: Value) -> None:
    """Copy a value to the array of another one."""
    layout = writer.arrays[target].layout
    group = writer.open(op, layout)
    position = group.position(layout)
    text = writer.element(value, position).address
    index = writer.index_text(layout, position)
    group.scopes[-1].lines.append(writer.assignment(writer.arrays[target], index, text))


def _copy_of(writer: KernelWriter, op: Op, value: Value) -> Value:
    """Return a new value, in an array, with the elements of one that is about to be overwritten."""
    copy = Value(value.type)
    layout = writer.arrays[value].layout
    position = writer.open(op, layout).position(layout)
    text = writer.element(value, position).address
    index = writer.index_text(layout, position)
    writer.write_element(copy, layout, index, text, writer.scope_lines)
    writer.close()
    return copy


def _assign_results(
    writer: KernelWriter, op: Op, results: Sequence[Value], values: Sequence[Value]
) -> None:
    """Give declared results their values."""
    writer.current = op
    for result, value in zip(results, values, strict=True):
        if isinstance(result.type, Tensor):
            _overwrite(writer, op, result, value)
    texts = [
        (writer.scalars[result].text, writer.scalar(value).address)
        for result, value in zip(results, values, strict=True)
        if not isinstance(result.type, Tensor)
    ]
    writer.close()
    writer.lines += [f"{name} = {text};" for name, text in texts]


def _pass_on(writer: KernelWriter, values: Sequence[Value], targets: Sequence[Value]) -> None:
    """Let values be the same variables and arrays as others."""
    for value, target in zip(values, targets, strict=True):
        if isinstance(value.type, Tensor):
            writer.arrays[target] = writer.arrays[value]
            writer.superseded.pop(value, None)
        else:
            writer.scalars[target] = writer.scalars[value]
