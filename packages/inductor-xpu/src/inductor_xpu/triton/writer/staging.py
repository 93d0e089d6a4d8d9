"""Tiles in local memory, where every work-item can read every element."""

from __future__ import annotations

from collections.abc import Mapping

from ..ir.program import Op, Value
from ..ir.types import element_of
from ..layouts import Bit, Layout, Position, bits_of, number_text, row_major_text
from ..matrix import packed
from .group import UNROLLED, Group, LocalBuffer
from .guards import guarded
from .kernel import KernelWriter

# Elements that a work-item loads before it writes the first of them to local memory.
_MAX_IN_FLIGHT = 32


def stage(writer: KernelWriter, op: Op, value: Value, buffer: LocalBuffer) -> None:
    """Write a tile to local memory, in the buffer's order; the work-items do not yet wait for each other."""
    layout = writer.choice.of(value)
    group = writer.open(op, layout)
    position = group.position(layout)
    text = writer.element(value, position).address
    if buffer.order:
        text = packed(element_of(value.type), text)
        if layout.size <= _MAX_IN_FLIGHT:
            _stage_after(writer, group, layout, text, buffer)
            return
    line = _write_element(writer, layout, position, text, buffer, writer.widths())
    group.scopes[-1].lines.append(line)


def _stage_after(
    writer: KernelWriter, group: Group, layout: Layout, text: str, buffer: LocalBuffer
) -> None:
    """Write the current element to registers, and all elements after the loop to local memory.

    A write to local memory waits for the load of its element, and the next load would wait for that write.
    """
    array, counter = writer.name("t"), writer.name("r")
    group.uses_arrays = True
    group.scopes[0].lines.append(f"{buffer.type} {array}[{layout.size}];")
    index = writer.index_text(layout, group.position(layout))
    group.scopes[-1].lines.append(f"{array}[{index}] = {text};")
    position = layout.position(lambda bit: Bit(counter, bit))
    widths = {**writer.item_widths, counter: bits_of(layout.size)}
    line = _write_element(writer, layout, position, f"{array}[{counter}]", buffer, widths)
    head = f"{UNROLLED} (i32 {counter} = 0; {counter} < {layout.size}; ++{counter})"
    group.after.append(f"{head} {line}")


def _write_element(
    writer: KernelWriter,
    layout: Layout,
    position: Position,
    text: str,
    buffer: LocalBuffer,
    widths: Mapping[str, int],
) -> str:
    """Return the statement that writes an element to local memory."""
    index = row_major_text(position, widths)
    if buffer.order:
        index = number_text((position[dim][bit] for dim, bit in buffer.order), widths)
    owner = writer.owner(layout)
    return guarded([owner] if owner else [], f"{buffer.name}[{index}] = {text};")


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
