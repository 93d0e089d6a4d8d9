"""Loads and stores."""

from __future__ import annotations

from ..elements import constant, from_memory, to_memory
from ..ir.program import Op, Value
from ..ir.types import Element, Pointer, Tensor, element_of
from ..layouts import Position
from ..roots import root_of
from .group import Expr
from .guards import guarded
from .kernel import KernelWriter
from .staging import stage_operand


def pointee(pointer: Value) -> Element:
    """Return the type of what an address is that of."""
    type = element_of(pointer.type)
    assert isinstance(type, Pointer)
    return type.pointee


def await_stores(writer: KernelWriter, pointer: Value) -> None:
    """Wait for what the program has stored where a load may read, and note the load."""
    root = root_of(pointer, writer.choice.carried)
    if root in writer.stored or (writer.stored and (root is None or None in writer.stored)):
        writer.barrier()
    writer.loaded.add((root, pointer))


def await_loads(writer: KernelWriter, pointer: Value) -> None:
    """Wait for loads from where a store may write, and note the store.

    A work-item that stores where it has loaded itself needs no wait.
    """
    root = root_of(pointer, writer.choice.carried)
    for other, address in writer.loaded:
        if (other == root or root is None or other is None) and address is not pointer:
            writer.barrier()
            break
    writer.stored.add(root)


def _masked(op: Op) -> tuple[Value | None, Value | None]:
    """Return the mask of a load and what masked elements are."""
    counts = op.attributes["operandSegmentSizes"]
    rest = op.operands[1:]
    return (rest[0] if counts[1] else None), (rest[-1] if counts[2] else None)


def emit_load(writer: KernelWriter, op: Op) -> None:
    """Write a load."""
    pointer, result = op.operands[0], op.result
    await_stores(writer, pointer)
    if not isinstance(result.type, Tensor):
        writer.close()
        text = _loaded(writer, op, ())
        writer.scalars[result] = writer.let(writer.type_of(result), text, 0)
        return
    layout = writer.choice.of(result)
    group = writer.open(op, layout)
    position = group.position(layout)
    text = _loaded(writer, op, position)
    expr = writer.let(writer.type_of(result), text, group.depth)
    group.scopes[-1].memo[result, position] = expr
    writer.keep_element(result, layout, position, expr.text)
    if result in writer.choice.operands:
        stage_operand(writer, op, result)


def _loaded(writer: KernelWriter, op: Op, position: Position) -> str:
    mask, other = _masked(op)
    address = read(writer, op.operands[0], position)
    element = pointee(op.operands[0])
    writer.need("convert")
    text = from_memory(element, address.element)
    if mask is None:
        return text
    condition = read(writer, mask, position).text
    if condition == "true":
        return text
    type = writer.type_of(op.result)
    if other is not None:
        instead = read(writer, other, position).address
    else:
        instead = f"({type})0" if isinstance(element, Pointer) else constant("0", element)
    return instead if condition == "false" else f"{condition} ? {text} : {instead}"


def emit_store(writer: KernelWriter, op: Op) -> None:
    """Write a store, by one work-item for each element."""
    pointer, value, *masks = op.operands
    await_loads(writer, pointer)
    if not isinstance(value.type, Tensor):
        writer.close()
        writer.lines.append(_stored(writer, op, (), writer.sole_owner))
        return
    layout = writer.choice.of_effect(op, value, pointer, *masks)
    group = writer.open(op, layout)
    line = _stored(writer, op, group.position(layout), writer.owner(layout))
    group.scopes[-1].lines.append(line)


def _stored(writer: KernelWriter, op: Op, position: Position, owner: str) -> str:
    pointer, value, *masks = op.operands
    address = read(writer, pointer, position)
    writer.need("convert")
    text = to_memory(pointee(pointer), read(writer, value, position).address)
    conditions = [owner] if owner else []
    conditions += [read(writer, mask, position).text for mask in masks]
    return guarded([c for c in conditions if c != "true"], f"{address.element} = {text};")


def read(writer: KernelWriter, value: Value, position: Position) -> Expr:
    """Return the text of a scalar or of a tile's element."""
    if isinstance(value.type, Tensor) or writer.group is not None:
        return writer.element(value, position if isinstance(value.type, Tensor) else ())
    return writer.scalar(value)
