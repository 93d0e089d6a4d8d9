"""Scans along a dimension: over the lanes of a sub-group, the registers, then the sub-groups."""

from __future__ import annotations

import itertools

from ..ir.program import Op
from ..ir.types import shape_of
from ..layouts import LANE, TEAM, Layout
from .group import Group
from .kernel import KernelWriter
from .reductions import axis_bits


def emit_scan(writer: KernelWriter, op: Op) -> None:
    """Write a scan of one or more tiles."""
    axis, reverse = op.attributes["axis"], op.attributes["reverse"]
    layout = writer.choice.of_effect(op, *op.operands)
    if not _is_in_order(layout, axis):
        layout = writer.choice.default(shape_of(op.operands[0].type))
    registers = layout.axis_registers(axis)
    writer.close()
    group = writer.open(op, layout, registers, reverse)
    position = group.position(layout)
    writer.need("group")
    types = [writer.type_of(operand) for operand in op.operands]
    elements = [writer.element(operand, position).text for operand in op.operands]
    lines = group.scopes[-1].lines
    names = [writer.name("e") for _ in elements]
    lines += [f"{t} {n} = {e};" for t, n, e in zip(types, names, elements, strict=True)]
    lanes = axis_bits(layout.lanes, axis)
    if lanes:
        _over_lanes(writer, op, lanes, types, names, lines, reverse)
    carries = [writer.name("carry") for _ in names]
    teams = axis_bits(layout.teams, axis)
    if registers:
        _carry(writer, op, group, types, names, carries, lines, reverse)
    if registers or teams:
        outer = group.scopes[1].lines if registers else lines
        declared = [f"{t} {c} = ({t}){{}};" for t, c in zip(types, carries, strict=True)]
        outer[0:0] = declared
        last = ((1 << len(lanes)) - 1) << lanes[0] if lanes else 0
        for carry, name in zip(carries, names, strict=True):
            end = f"{LANE} & {~last & (writer.choice.lanes - 1)}" if reverse else f"{LANE} | {last}"
            lines.append(f"{carry} = {f'shuffle({name}, {end})' if lanes else name};")
    index = writer.index_text(layout, position)
    for result, name in zip(op.results, names, strict=True):
        writer.write_element(result, layout, index, name, lines)
    if teams:
        tail = group.tail if registers else lines
        _over_teams(writer, op, group, teams, types, carries, layout, index, tail, reverse)
    writer.close()


def _is_in_order(layout: Layout, axis: int) -> bool:
    """Return True if lanes, registers and teams have the bits of a dimension in this order."""
    lanes = axis_bits(layout.lanes, axis)
    places = [layout.lanes[i] for i in lanes]
    places += [layout.registers[i] for i in layout.axis_registers(axis)]
    places += [layout.teams[i] for i in axis_bits(layout.teams, axis)]
    neighbors = all(b == a + 1 for a, b in itertools.pairwise(lanes))
    return neighbors and [place[1] for place in places if place] == list(range(len(places)))


def _over_lanes(
    writer: KernelWriter,
    op: Op,
    bits: list[int],
    types: list[str],
    names: list[str],
    lines: list[str],
    reverse: bool,
) -> None:
    """Scan over the lanes along the dimension."""
    step, first, last = writer.name("d"), 1 << bits[0], 1 << bits[-1]
    mask = sum(1 << bit for bit in bits)
    takes = f"({LANE} & {mask}) >= {step}"
    source = f"{LANE} - {step}"
    if reverse:
        takes, source = f"({LANE} & {mask}) + {step} <= {mask}", f"{LANE} + {step}"
    body: list[str] = []
    others = [writer.name() for _ in names]
    for type, name, other in zip(types, names, others, strict=True):
        body.append(f"const {type} {other} = shuffle({name}, {takes} ? {source} : {LANE});")
    results = writer.inline(op.body, [*others, *names], body)
    combined = [writer.name() for _ in names]
    body += [f"const {t} {n} = {r};" for t, n, r in zip(types, combined, results, strict=True)]
    body += [f"{n} = {takes} ? {c} : {n};" for n, c in zip(names, combined, strict=True)]
    lines.append(f"for (i32 {step} = {first}; {step} <= {last}; {step} *= 2) {{")
    lines += [*(f"  {line}" for line in body), "}"]


def _carry(
    writer: KernelWriter,
    op: Op,
    group: Group,
    types: list[str],
    names: list[str],
    carries: list[str],
    lines: list[str],
    reverse: bool,
) -> None:
    """Combine the elements of a register with those before it."""
    first = group.inner_size - 1 if reverse else 0
    results = writer.inline(op.body, [*carries, *names], lines)
    combined = [writer.name() for _ in names]
    lines += [f"const {t} {n} = {r};" for t, n, r in zip(types, combined, results, strict=True)]
    for name, result in zip(names, combined, strict=True):
        lines.append(f"{name} = {group.inner} == {first} ? {name} : {result};")


def _over_teams(
    writer: KernelWriter,
    op: Op,
    group: Group,
    bits: list[int],
    types: list[str],
    carries: list[str],
    layout: Layout,
    index: str,
    lines: list[str],
    reverse: bool,
) -> None:
    """Combine the elements of a sub-group with those of the sub-groups before it."""
    lanes, teams = writer.choice.lanes, writer.choice.teams
    parts = [writer.local_buffer(value, lanes * teams) for value in op.operands]
    group.buffers += parts
    buffers = [part.name for part in parts]
    for buffer, carry in zip(buffers, carries, strict=True):
        lines.append(f"{buffer}[{TEAM} * {lanes} + {LANE}] = {carry};")
    lines.append(writer.barrier_text)
    mask = sum(1 << bit for bit in bits)
    names = [writer.name("before") for _ in carries]
    lines += [f"{t} {n} = ({t}){{}};" for t, n in zip(types, names, strict=True)]
    order = range(1 << len(bits))
    own = _number(TEAM, bits)
    count = (1 << len(bits)) - 1
    previous = f"({count} - {own})" if reverse else own
    for rank in order:
        number = count - rank if reverse else rank
        chosen = sum((number >> i & 1) << bit for i, bit in enumerate(bits))
        at = f"(({TEAM} & {(teams - 1) & ~mask}) + {chosen}) * {lanes} + {LANE}"
        others = [f"{buffer}[{at}]" for buffer in buffers]
        if rank == 0:
            lines += [f"{n} = {p};" for n, p in zip(names, others, strict=True)]
            continue
        if rank == count:  # no sub-group comes after the last
            break
        lines.append(f"if ({rank} < {previous}) {{")
        body: list[str] = []
        results = writer.inline(op.body, [*names, *others], body)
        combined = [writer.name() for _ in names]
        body += [f"const {t} {c} = {r};" for t, c, r in zip(types, combined, results, strict=True)]
        body += [f"{n} = {c};" for n, c in zip(names, combined, strict=True)]
        lines += [*(f"  {line}" for line in body), "}"]
    head = f"for (i32 {group.inner} = 0; {group.inner} < {group.inner_size}; ++{group.inner}) {{"
    body = []
    arrays = [writer.arrays[result].slots.element(index) for result in op.results]
    results = writer.inline(op.body, [*names, *arrays], body)
    combined = [writer.name() for _ in names]
    body += [f"const {t} {c} = {r};" for t, c, r in zip(types, combined, results, strict=True)]
    body += [f"{a} = {c};" for a, c in zip(arrays, combined, strict=True)]
    lines += [f"if ({previous} > 0) {{", f"  {head}", *(f"    {b}" for b in body), "  }", "}"]
    lines.append(writer.barrier_text)


def _number(variable: str, bits: list[int]) -> str:
    """Return the number that bits of a counter make."""
    return "(" + " | ".join(f"({variable} >> {b} & 1) << {i}" for i, b in enumerate(bits)) + ")"
