"""Tiles in local memory, where every work-item can read every element."""

from __future__ import annotations

from ..ir.program import Op, Value
from ..ir.types import element_of
from ..layouts import number_text, row_major_text
from ..matrix import packed
from .group import LocalBuffer
from .guards import guarded
from .kernel import KernelWriter


def stage(writer: KernelWriter, op: Op, value: Value, buffer: LocalBuffer) -> None:
    """Write a tile to local memory, in the buffer's order; the work-items do not yet wait for each other."""
    layout = writer.choice.of(value)
    group = writer.open(op, layout)
    position = group.position(layout)
    text = writer.element(value, position).address
    if buffer.order:
        text = packed(element_of(value.type), text)
        index = number_text((position[dim][bit] for dim, bit in buffer.order), writer.widths())
    else:
        index = row_major_text(position, writer.widths())
    owner = writer.owner(layout)
    line = guarded([owner] if owner else [], f"{buffer.name}[{index}] = {text};")
    group.scopes[-1].lines.append(line)


def stage_operand(writer: KernelWriter, op: Op, value: Value) -> None:
    """Write a tile that is loaded for a product to local memory at once, without an array of registers."""
    found = _operand_of(writer, value)
    if found is not None:
        product, side = found
        operand = product.operands[side]
        order = writer.choice.operand_order(product, side)
        buffer = writer.staged[operand, order] = writer.operand_buffer(operand, order)
        stage(writer, op, operand, buffer)


def _operand_of(writer: KernelWriter, value: Value) -> tuple[Op, int] | None:
    """Return the product whose operand a loaded tile is, itself or transposed, if it has no other use."""
    users = writer.choice.uses.of(value)
    if len(users) != 1:
        return None
    (user,) = users
    if user.name == "tt.trans":
        return _operand_of(writer, user.result)
    if user.name != "tt.dot" or value in user.operands[2:] or user.operands[0] is user.operands[1]:
        return None
    return user, user.operands.index(value)
