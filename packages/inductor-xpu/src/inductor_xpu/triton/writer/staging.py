"""Tiles in local memory, where every work-item can read every element."""

from __future__ import annotations

from ..ir.program import Op, Value
from ..layouts import row_major_text
from .group import LocalBuffer
from .guards import guarded
from .kernel import KernelWriter


def stage(writer: KernelWriter, op: Op, value: Value, buffer: LocalBuffer) -> None:
    """Write a tile to local memory in row-major order; the work-items do not yet wait for each other."""
    layout = writer.choice.of(value)
    group = writer.open(op, layout)
    position = group.position(layout)
    text = writer.element(value, position).address
    index = row_major_text(position, writer.widths())
    owner = writer.owner(layout)
    line = guarded([owner] if owner else [], f"{buffer.name}[{index}] = {text};")
    group.scopes[-1].lines.append(line)


def stage_operand(writer: KernelWriter, op: Op, value: Value) -> None:
    """Write a tile that is loaded for a product to local memory at once, without an array of registers."""
    target = staged_as(writer, value)
    if target is not None:
        buffer = writer.staged[target] = writer.local_buffer(target)
        stage(writer, op, target, buffer)


def staged_as(writer: KernelWriter, value: Value) -> Value | None:
    """Return the operand of a product that a loaded tile is, itself or transposed, if it has no other use."""
    users = writer.choice.uses.of(value)
    if len(users) != 1:
        return None
    (user,) = users
    if user.name == "tt.trans":
        return staged_as(writer, user.result)
    if user.name != "tt.dot" or value in user.operands[2:] or user.operands[0] is user.operands[1]:
        return None
    return value
