"""Tiles in arrays of registers, and in local memory."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..elements import memory_size, register_size
from ..ir.program import Value
from ..ir.types import Scalar, element_of, shape_of
from ..layouts import Bit, Layout, Place, Position, bits_of, number_text, row_major_text
from ..matrix import packed_type
from .group import UNROLLED, Expr, LocalBuffer
from .storage import Slots
from .text import TextWriter


@dataclass
class KeptArray:
    """A tile in an array of registers."""

    slots: Slots
    layout: Layout


class ArrayWriter(TextWriter):
    """Reads and writes the arrays of values that are kept."""

    arrays: dict[Value, KeptArray]
    # Loops use an array for this trip's value and for the next one's. By value of the next trip: the value of
    # this trip whose array it will use. By value of this trip: the one that has overwritten its array.
    successions: dict[Value, Value]
    superseded: dict[Value, Value]

    def define_array(self, value: Value, layout: Layout) -> KeptArray:
        """Return the array of registers of a value: a new one, or that of the value before it in a loop."""
        previous = self.successions.get(value)
        if previous is not None and value not in self.plan.copied:
            before = self.arrays[previous]
            if before.layout == layout:
                self.superseded[previous] = value
                array = self.arrays[value] = KeptArray(before.slots, layout)
                self._filled(value)
                return array
            self.plan.copy(value)
            self.incomplete = True
        bytes = register_size(element_of(value.type))
        slots = self.storage.array(self.type_of(value), bytes, layout)
        array = self.arrays[value] = KeptArray(slots, layout)
        self._filled(value)
        return array

    def _filled(self, value: Value) -> None:
        if self.group is not None:
            self.group.results.add(value)

    def index_text(self, layout: Layout, position: Position) -> str:
        """Return the number of the register that has an element, which must be one of this work-item's."""
        sources = layout.register_bits(position)
        assert sources is not None
        return number_text(sources, self.widths())

    def keep_element(self, value: Value, layout: Layout, position: Position, text: str) -> None:
        """Write an element of a value of the open loop to its array, if it has one."""
        if value in self.plan.materialized:
            index = self.index_text(layout, position)
            self.write_element(value, layout, index, text, self.scope_lines)

    def write_element(
        self, value: Value, layout: Layout, index: str, text: str, lines: list[str]
    ) -> None:
        """Write an element of a value of the open loop to its array."""
        group = self.group
        assert group is not None
        array = self.arrays.get(value)
        if array is None or value not in group.results:
            array = self.define_array(value, layout)
        previous = self.successions.get(value)
        if previous is not None and group.reads.get(previous, {index}) != {index}:
            # Elements of the trip before are read in another order than those of the next are written.
            self.plan.copy(value)
        lines.append(self.assignment(array, index, text))

    def assignment(self, array: KeptArray, index: str, text: str) -> str:
        """Return the statement that writes an element to an array, in the open loop if there is one."""
        if self.group is not None:
            self.group.uses_arrays = True
        if array.slots.stride == 1:
            # Vector compilers do not see that all lanes have the same number.
            self.need("group")
            text = f"sub_group_broadcast({text})"
        return f"{array.slots.element(index)} = {text};"

    def read_array(self, value: Value, position: Position) -> Expr:
        """Return an element of an array."""
        group, array = self.group, self.arrays[value]
        assert group is not None
        if value in self.superseded:
            self.plan.copy(self.superseded[value])
            return self.dummy(value)
        if value in group.results:
            return self.later(value)
        self.storage.read(array.slots)
        sources = array.layout.register_bits(position)
        if sources is None:
            return self._read_converted(value, array, position)
        group.uses_arrays = True
        depth = group.depth_of(position)
        index = number_text(sources, self.widths())
        group.reads.setdefault(value, set()).add(index)
        text = array.slots.element(index)
        if self.is_uniform(value) and array.slots.stride == 0:
            # Vector compilers do not see that all lanes have the same number.
            self.need("group")
            text = f"sub_group_broadcast({text})"
        return self.let(self.type_of(value), text, depth)

    def is_uniform(self, value: Value) -> bool:
        """Return True for integers in an array of which all lanes of a sub-group have the same."""
        array, type = self.arrays.get(value), element_of(value.type)
        if array is None or not isinstance(type, Scalar) or type.name not in ("i32", "i64"):
            return False
        return all(place is None for place in array.layout.lanes)

    def _read_converted(self, value: Value, array: KeptArray, position: Position) -> Expr:
        """Return an element that another work-item has, by way of local memory."""
        group = self.group
        assert group is not None
        if self.interchanged is not None:
            self.plan.forbid_interchange(self.interchanged)
        if array.slots.stride:
            return self._read_other_lane(value, array, position)
        buffer = group.converted.get(value)
        if buffer is None:
            buffer = group.converted[value] = self.local_buffer(value)
            group.buffers.append(buffer)
            group.scopes[0].lines += [*self.copy_lines(array, buffer.name), self.barrier_text]
            rest = [line for line in group.after if line != self.barrier_text]
            group.after[:] = [*rest, self.barrier_text]
        depth = group.depth_of(position)
        index = row_major_text(position, self.widths())
        return self.let(self.type_of(value), f"{buffer.name}[{index}]", depth)

    def _read_other_lane(self, value: Value, array: KeptArray, position: Position) -> Expr:
        """Return an element that another lane has, from an array in local memory."""
        group = self.group
        assert group is not None
        if not group.after:
            group.scopes[0].lines.append(self.barrier_text)
            group.after.append(self.barrier_text)
        layout, widths = array.layout, self.widths()
        register = number_text((position[dim][bit] for dim, bit in layout.registers), widths)
        lane = number_text((position[p[0]][p[1]] if p else 0 for p in layout.lanes), widths)
        index = (
            register if array.slots.stride == 1 else f"{register} * {array.slots.stride} + {lane}"
        )
        return self.let(
            self.type_of(value), f"{array.slots.name}[{index}]", group.depth_of(position)
        )

    def local_buffer(self, value: Value, size: int | None = None) -> LocalBuffer:
        """Return a new buffer in local memory for a tile, or for ``size`` elements of its type."""
        count = math.prod(shape_of(value.type)) if size is None else size
        bytes = count * register_size(element_of(value.type))
        return self._reserve(self.type_of(value), bytes, ())

    def operand_buffer(self, value: Value, order: tuple[Place, ...]) -> LocalBuffer:
        """Return a new buffer in local memory for an operand of a product; see LocalBuffer.order."""
        if not order:
            return self.local_buffer(value)
        element = element_of(value.type)
        bytes = math.prod(shape_of(value.type)) * memory_size(element)
        return self._reserve(packed_type(element), bytes, order)

    def _reserve(self, type: str, bytes: int, order: tuple[Place, ...]) -> LocalBuffer:
        name = self.name("s")
        offset = self.local.reserve(bytes)
        lines = self.lines if self.group is None else self.group.scopes[0].lines
        lines.append(f"{type}* {name} = ({type}*)((u8*)local_memory.data + {offset});")
        return LocalBuffer(name, type, offset, order)

    def copy_lines(self, array: KeptArray, buffer: str) -> list[str]:
        """Return lines that copy an array of registers to local memory, in row-major order."""
        layout, counter = array.layout, self.name("r")
        widths = {**self.item_widths, counter: bits_of(layout.size)}
        position = layout.position(lambda bit: Bit(counter, bit))
        line = f"{buffer}[{row_major_text(position, widths)}] = {array.slots.element(counter)};"
        owner = self.owner(layout)
        if owner:
            line = f"if ({owner}) {line}"
        loop = UNROLLED if array.slots.is_of_eights else self.target.vector_loop
        return [f"{loop} (i32 {counter} = 0; {counter} < {layout.size}; ++{counter}) {line}"]
