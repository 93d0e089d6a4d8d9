"""Elements at positions that the kernel computes: gather, histogram; and tiles of one element as scalars."""

from __future__ import annotations

from ..ir.program import Op
from ..ir.types import shape_of
from ..layouts import LANE, TEAM, number_text, row_major_text
from .group import Expr
from .kernel import KernelWriter
from .staging import stage


def emit_gather(writer: KernelWriter, op: Op) -> None:
    """Write a gather along a dimension, through local memory."""
    source, indices = op.operands
    axis, shape, result = op.attributes["axis"], shape_of(op.operands[0].type), op.result
    writer.close()
    part = writer.local_buffer(source)
    buffer = part.name
    stage(writer, op, source, part)
    writer.close()
    writer.lines.append(writer.barrier_text)
    layout = writer.choice.of_effect(op, result, indices)
    group = writer.open(op, layout)
    group.buffers.append(part)
    position = group.position(layout)
    chosen = writer.element(indices, position).text
    index, stride = "0", 1
    for dim in reversed(range(len(shape))):
        coordinate = chosen if dim == axis else number_text(position[dim], writer.widths())
        index += f" + {coordinate} * {stride}"
        stride *= shape[dim]
    expr = writer.let(writer.type_of(result), f"{buffer}[{index}]", group.depth)
    group.scopes[-1].memo[result, position] = expr
    writer.keep_element(result, layout, position, expr.text)
    group.after.append(writer.barrier_text)
    writer.close()


def emit_histogram(writer: KernelWriter, op: Op) -> None:
    """Write a count of the numbers of a tile, in local memory; those beyond the result do not count."""
    source, *masks = op.operands
    result = op.result
    (size,) = shape_of(result.type)
    writer.need("atomic")
    writer.close()
    part, counter = writer.local_buffer(result), writer.name("r")
    buffer = part.name
    items = writer.choice.lanes * writer.choice.teams
    first = LANE if writer.choice.teams == 1 else f"{TEAM} * {writer.choice.lanes} + {LANE}"
    writer.lines += [
        f"for (i32 {counter} = {first}; {counter} < {size}; {counter} += {items}) "
        f"{buffer}[{counter}] = 0;",
        writer.barrier_text,
    ]
    layout = writer.choice.of_effect(op, source, *masks)
    group = writer.open(op, layout)
    position = group.position(layout)
    number = writer.element(source, position).text
    conditions = [f"(u64)(i64){number} < {size}u"]
    conditions += [writer.element(mask, position).text for mask in masks]
    owner = writer.owner(layout)
    if owner:
        conditions.append(owner)
    type = writer.type_of(result)
    line = f"if ({' && '.join(conditions)}) atomic_add(&{buffer}[{number}], ({type})1);"
    group.scopes[-1].lines.append(line)
    writer.close()
    writer.lines.append(writer.barrier_text)
    layout = writer.choice.of(result)
    group = writer.open(op, layout)
    group.buffers.append(part)
    position = group.position(layout)
    text = f"{buffer}[{row_major_text(position, writer.widths())}]"
    index = writer.index_text(layout, position)
    writer.write_element(result, layout, index, text, group.scopes[-1].lines)
    group.after.append(writer.barrier_text)
    writer.close()


def emit_unsplat(writer: KernelWriter, op: Op) -> None:
    """Write the only element of a tile to a scalar."""
    (source,) = op.operands
    layout = writer.choice.of(source)
    group = writer.open(op, layout)
    text = writer.element(source, group.position(layout)).address
    name = writer.name("t")
    group.scopes[0].lines.append(f"{writer.type_of(op.result)} {name};")
    group.scopes[-1].lines.append(f"{name} = {text};")
    group.results.add(op.result)
    writer.scalars[op.result] = Expr(name)
