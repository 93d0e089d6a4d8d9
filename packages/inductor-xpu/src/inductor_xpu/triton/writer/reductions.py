"""Reductions: in registers, over the lanes of a sub-group, and over the sub-groups of a work-group."""

from __future__ import annotations

from ..elements import constant, rounded
from ..ir.program import Block, Op
from ..ir.types import Scalar, Tensor, element_of
from ..layouts import LANE, TEAM, Layout, number_text
from .group import Expr, Group
from .kernel import KernelWriter

# The number that changes nothing, by the operation. -0 is it for sums.
_IDENTITIES = {
    "arith.addf": "-0.0",
    "arith.addi": "0",
    "arith.mulf": "1.0",
    "arith.muli": "1",
    "arith.ori": "0",
    "arith.xori": "0",
}
_UNROUNDED = {"arith.addf": "+", "arith.mulf": "*"}


def axis_bits(places: tuple[tuple[int, int] | None, ...], axis: int) -> list[int]:
    """Return which bits of the lane's or team's number go along a dimension."""
    return [index for index, place in enumerate(places) if place is not None and place[0] == axis]


def single_operation(block: Block) -> str | None:
    """Return the operation of a region that combines its two arguments by one operation; None for others."""
    if len(block.ops) != 2 or len(block.arguments) != 2:
        return None
    op = block.ops[0]
    return op.name if set(op.operands) == set(block.arguments) else None


def combine(
    writer: KernelWriter, block: Block, arguments: list[str], lines: list[str]
) -> list[str]:
    """Return the texts of what a region makes of two elements, or two sets of them.

    A sum or product of narrow floats is rounded once, at its end.
    """
    symbol = _UNROUNDED.get(single_operation(block) or "")
    if symbol is not None:
        return [f"{arguments[0]} {symbol} {arguments[1]}"]
    return writer.inline(block, arguments, lines)


def emit_reduce(writer: KernelWriter, op: Op) -> None:
    """Write a reduction of one or more tiles along a dimension."""
    axis, block = op.attributes["axis"], op.body
    layout = writer.choice.of_effect(op, *op.operands)
    registers = layout.axis_registers(axis)
    group = writer.open(op, layout, registers)
    group.reduces = True
    position = group.position(layout)
    elements = [writer.element(operand, position).text for operand in op.operands]
    types = [writer.type_of(operand) for operand in op.operands]
    names = [writer.name("acc") for _ in op.operands]
    tail = group.tail if registers else group.scopes[1].lines
    _fold(writer, op, group, elements, types, names, tail)
    writer.need("group")
    _over_lanes(writer, block, axis_bits(layout.lanes, axis), types, names, tail)
    _over_teams(writer, block, axis_bits(layout.teams, axis), types, names, tail, op)
    _finish(writer, op, group, layout.without(axis), names, tail)


def _fold(
    writer: KernelWriter,
    op: Op,
    group: Group,
    elements: list[str],
    types: list[str],
    names: list[str],
    tail: list[str],
) -> None:
    """Combine the elements that a work-item has: in parts, and the parts in the end."""
    outer, inner = group.scopes[1].lines, group.scopes[-1].lines
    if not group.axes:
        outer += [f"{t} {n} = {e};" for t, n, e in zip(types, names, elements, strict=True)]
        return
    parts = [writer.name("part") for _ in names]
    current = [f"{part}[{group.part}]" for part in parts]
    identity = _IDENTITIES.get(single_operation(op.body) or "")
    type = element_of(op.operands[0].type)
    if identity is not None and isinstance(type, Scalar):
        begin = constant(identity, type)
        outer.append(
            f"{types[0]} {parts[0]}[{group.parts}] = {{{', '.join([begin] * group.parts)}}};"
        )
        (result,) = combine(writer, op.body, [*current, *elements], inner)
        inner.append(f"{current[0]} = {result};")
    else:
        outer += [
            f"{t} {part}[{group.parts}] = {{}};" for t, part in zip(types, parts, strict=True)
        ]
        results = _named(
            writer, combine(writer, op.body, [*current, *elements], inner), types, inner
        )
        is_first = f"{group.step} == 0"
        for name, element, result in zip(current, elements, results, strict=True):
            inner.append(f"{name} = {is_first} ? {element} : {result};")
    tail += [f"{t} {n} = {p}[0];" for t, n, p in zip(types, names, parts, strict=True)]
    for number in range(1, group.parts):
        others = [f"{part}[{number}]" for part in parts]
        results = _named(writer, combine(writer, op.body, [*names, *others], tail), types, tail)
        tail += [f"{name} = {result};" for name, result in zip(names, results, strict=True)]


def _named(writer: KernelWriter, texts: list[str], types: list[str], lines: list[str]) -> list[str]:
    """Name results, which may be variables that are about to be assigned."""
    if len(texts) == 1:
        return texts
    names = [writer.name() for _ in texts]
    lines += [f"const {t} {n} = {x};" for t, n, x in zip(types, names, texts, strict=True)]
    return names


def _over_lanes(
    writer: KernelWriter,
    block: Block,
    bits: list[int],
    types: list[str],
    names: list[str],
    lines: list[str],
) -> None:
    for run in _runs(bits):
        step = writer.name("d")
        body: list[str] = []
        others = [writer.name() for _ in names]
        for type, name, other in zip(types, names, others, strict=True):
            body.append(f"const {type} {other} = shuffle({name}, {LANE} ^ {step});")
        left, right = names, others
        if single_operation(block) not in _IDENTITIES:  # it may not be commutative
            left, right = [writer.name() for _ in names], [writer.name() for _ in names]
            for type, name, other, a, b in zip(types, names, others, left, right, strict=True):
                upper = f"({LANE} & {step}) != 0"
                body.append(f"const {type} {a} = {upper} ? {other} : {name};")
                body.append(f"const {type} {b} = {upper} ? {name} : {other};")
        results = _named(writer, combine(writer, block, [*left, *right], body), types, body)
        body += [f"{name} = {result};" for name, result in zip(names, results, strict=True)]
        first, last = 1 << run[0], 1 << run[-1]
        lines.append(f"for (i32 {step} = {first}; {step} <= {last}; {step} *= 2) {{")
        lines += [*(f"  {line}" for line in body), "}"]


def _runs(bits: list[int]) -> list[list[int]]:
    """Return the bits in runs of neighbors."""
    runs: list[list[int]] = []
    for bit in bits:
        if runs and runs[-1][-1] == bit - 1:
            runs[-1].append(bit)
        else:
            runs.append([bit])
    return runs


def _over_teams(
    writer: KernelWriter,
    block: Block,
    bits: list[int],
    types: list[str],
    names: list[str],
    lines: list[str],
    op: Op,
) -> None:
    """Combine what the sub-groups have, through local memory, in the order of the teams."""
    if not bits:
        return
    lanes, teams = writer.choice.lanes, writer.choice.teams
    parts = [writer.local_buffer(value, lanes * teams) for value in op.operands]
    assert writer.group is not None
    writer.group.buffers += parts
    buffers = [part.name for part in parts]
    for buffer, name in zip(buffers, names, strict=True):
        lines.append(f"{buffer}[{TEAM} * {lanes} + {LANE}] = {name};")
    lines.append(writer.barrier_text)
    for number in range(1 << len(bits)):
        chosen = sum((number >> i & 1) << bit for i, bit in enumerate(bits))
        other_teams = (teams - 1) & ~sum(1 << bit for bit in bits)
        at = f"(({TEAM} & {other_teams}) + {chosen}) * {lanes} + {LANE}"
        if number == 0:
            lines += [f"{n} = {b}[{at}];" for b, n in zip(buffers, names, strict=True)]
            continue
        others = [f"{buffer}[{at}]" for buffer in buffers]
        results = _named(writer, combine(writer, block, [*names, *others], lines), types, lines)
        lines += [f"{name} = {result};" for name, result in zip(names, results, strict=True)]
    lines.append(writer.barrier_text)


def _finish(
    writer: KernelWriter,
    op: Op,
    group: Group,
    layout: Layout,
    names: list[str],
    tail: list[str],
) -> None:
    """Write the results to scalars or arrays, complete when the loop is."""
    if single_operation(op.body) in _UNROUNDED:
        type = element_of(op.operands[0].type)
        assert isinstance(type, Scalar)
        names = [rounded(type, name) for name in names]
    for result, name in zip(op.results, names, strict=True):
        if not writer.choice.uses.of(result):
            continue
        if isinstance(result.type, Tensor):
            index = number_text(group.outer_sources(), writer.widths())
            writer.write_element(result, layout, index, name, tail)
        else:
            scalar = writer.name("t")
            group.scopes[0].lines.append(f"{writer.type_of(result)} {scalar};")
            group.results.add(result)
            writer.scalars[result] = Expr(scalar)
            tail.append(f"{scalar} = {name};")
