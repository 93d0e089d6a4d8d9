"""Matrix products: operands in local memory, results in registers."""

from __future__ import annotations

from ..elements import rounded
from ..ir.program import Op, Value
from ..ir.types import Scalar, element_of, shape_of
from ..layouts import Bit, Layout, Source, bits_of, number_text, row_major_text
from .group import LocalBuffer
from .kernel import KernelWriter
from .matrix_units import product_on_matrix_units
from .staging import stage
from .storage import Slots

# Rows and vectors of the block of results that stays in registers for all of K. A vector has as many
# numbers as a
# sub-group has lanes: where a CPU's registers are half as wide there are half as many of them, too.
_BLOCK, _NARROW_BLOCK = (8, 2), (4, 1)


def emit_dot(writer: KernelWriter, op: Op) -> None:
    """Write a product of matrices, or of batches of matrices, and its sum with a third one."""
    a, b, c = op.operands[:3]
    result = op.result
    writer.close()
    buffers = []
    passing: list[LocalBuffer] = []
    for side, value in enumerate((a, b)):
        key = value, writer.choice.operand_order(op, side)
        buffer = writer.staged.get(key)
        if buffer is None:
            buffer = writer.operand_buffer(*key)
            stage(writer, op, value, buffer)
            passing.append(buffer)
        elif writer.is_in_block_of(op, value):
            passing.append(writer.staged.pop(key))
        buffers.append(buffer)
    layout = writer.choice.of(result)
    # The sum begins with the third matrix, in the array of the result.
    if not _takes_over(writer, result, c, layout):
        group = writer.open(op, layout)
        position = group.position(layout)
        text = writer.element(c, position).text
        index = writer.index_text(layout, position)
        writer.write_element(result, layout, index, text, group.scopes[-1].lines)
    writer.close()
    writer.lines.append(writer.barrier_text)
    names = [buffer.name for buffer in buffers]
    slots = writer.arrays[result].slots
    if op in writer.choice.products:
        writer.lines += product_on_matrix_units(writer, op, layout, slots, names)
    elif writer.target.gpu:
        writer.lines += _product(writer, op, layout, slots, names, _BLOCK)
    else:
        writer.lines.append("#if !defined(XPU_CPU_VECTOR) || XPU_CPU_VECTOR >= 64")
        writer.lines += _product(writer, op, layout, slots, names, _BLOCK)
        writer.lines.append("#else")
        writer.lines += _product(writer, op, layout, slots, names, _NARROW_BLOCK)
        writer.lines.append("#endif")
    writer.lines.append(writer.barrier_text)
    for buffer in passing:
        writer.local.release(buffer.offset)


def _takes_over(writer: KernelWriter, result: Value, c: Value, layout: Layout) -> bool:
    """Return True if the result has the array of the third matrix, in which the sum is then."""
    array = writer.arrays.get(c)
    if array is None or array.layout != layout or writer.successions.get(result) is not c:
        return False
    return c not in writer.superseded and writer.define_array(result, layout).slots == array.slots


def _product(
    writer: KernelWriter,
    op: Op,
    layout: Layout,
    array: Slots,
    buffers: list[str],
    size: tuple[int, int],
) -> list[str]:
    """Return the loops over blocks of results, and over K."""
    result = op.result
    rank = len(shape_of(result.type))
    row_bits = [i for i, (dim, _) in enumerate(layout.registers) if dim == rank - 2]
    vector_bits = [i for i, (dim, _) in enumerate(layout.registers) if dim == rank - 1]
    other_bits = [i for i, (dim, _) in enumerate(layout.registers) if dim < rank - 2]
    inner_rows = row_bits[: bits_of(size[0])]
    inner_vectors = vector_bits[: bits_of(size[1])]
    row, vector, block, k = (writer.name(prefix) for prefix in ("m", "n", "b", "k"))
    outer = [
        i
        for i in (*vector_bits, *row_bits, *other_bits)
        if i not in inner_rows and i not in inner_vectors
    ]
    sources: dict[int, Source] = {}
    for name, bits in ((row, inner_rows), (vector, inner_vectors), (block, outer)):
        sources |= {bit: Bit(name, rank_) for rank_, bit in enumerate(bits)}
    depth = shape_of(op.operands[0].type)[-1]
    widths = {
        **writer.widths(),
        row: len(inner_rows),
        vector: len(inner_vectors),
        block: len(outer),
        k: bits_of(depth),
    }
    position = layout.position(sources.__getitem__)
    inner = tuple(Bit(k, i) for i in range(bits_of(depth)))
    left = row_major_text((*position[:-2], position[-2], inner), widths)
    right = row_major_text((*position[:-2], inner, position[-1]), widths)
    register = number_text([sources[i] for i in range(len(layout.registers))], widths)
    rows, vectors = 1 << len(inner_rows), 1 << len(inner_vectors)
    type = writer.type_of(result)
    element = element_of(result.type)
    assert isinstance(element, Scalar)
    is_float = type in ("float", "double")
    writer.need("math")
    update = "fma(x, y{1}, {0})" if is_float else "{0} + x * y{1}"
    unrolled = '_Pragma("unroll") for'
    each_row = f"{unrolled} (i32 {row} = 0; {row} < {rows}; ++{row})"
    each_vector = f"{unrolled} (i32 {vector} = 0; {vector} < {vectors}; ++{vector})"
    cell = f"sum[{row} * {vectors} + {vector}]"
    convert = "" if is_float and writer.type_of(op.operands[0]) == type else f"({type})"
    return [
        f"{writer.target.vector_loop} (i32 {block} = 0; {block} < {1 << len(outer)}; ++{block}) {{",
        f"  {type} sum[{rows * vectors}];",
        f"  {each_row} {each_vector} {cell} = {array.element(register)};",
        f"  {writer.target.vector_loop} (i32 {k} = 0; {k} < {depth}; ++{k}) {{",
        f"    {type} y[{vectors}];",
        f"    {each_vector} y[{vector}] = {convert}{buffers[1]}[{right}];",
        f"    {each_row} {{",
        f"      const {type} x = {convert}{buffers[0]}[{left}];",
        f"      {each_vector} {cell} = {update.format(cell, f'[{vector}]')};",
        "    }",
        "  }",
        f"  {each_row} {each_vector} {array.element(register)} = {rounded(element, cell)};",
        "}",
    ]
