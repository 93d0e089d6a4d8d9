"""Loads and stores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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
    """Wait for loads from where a store may write, and note the store."""
    if any(may_overlap(writer, address, pointer) for _, address in writer.loaded):
        writer.barrier()
    writer.stored.add(root_of(pointer, writer.choice.carried))


def may_overlap(writer: KernelWriter, loaded: Value, stored: Value) -> bool:
    """Return True if a work-item may store where another has to load before.

    None does where the addresses are the same value.
    """
    if loaded is stored:
        return False
    one, other = (root_of(pointer, writer.choice.carried) for pointer in (loaded, stored))
    return one is None or other is None or one is other


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
    if _may_wait(writer, op):
        writer.waiting[result] = op
    else:
        _load_now(writer, op)


def _may_wait(writer: KernelWriter, op: Op) -> bool:
    """Return True for a load that may be written where it is used first."""
    if op in writer.plan.early or op.result in writer.choice.operands or writer.interchanged:
        return False
    return not op.attributes.get("isVolatile")


def _load_now(writer: KernelWriter, op: Op) -> None:
    result = op.result
    writer.waiting.pop(result, None)
    layout = writer.choice.of(result)
    group = writer.open(op, layout)
    position = group.position(layout)
    expr = load_element(writer, op, position)
    group.scopes[-1].memo[result, position] = expr
    if result in writer.choice.operands:
        stage_operand(writer, op, result)


def load_element(writer: KernelWriter, op: Op, position: Position) -> Expr:
    """Write the load of an element in the innermost scope of the open loop."""
    group, result = writer.group, op.result
    assert group is not None
    writer.waiting.pop(result, None)
    text = _loaded(writer, op, position)
    expr = writer.let(writer.type_of(result), text, group.depth)
    writer.keep_element(result, writer.choice.of(result), position, expr.text)
    return expr


def load_waiting(writer: KernelWriter, store: Op | None = None) -> None:
    """Write the loads that wait for their first use, but for those that a store uses and cannot change."""
    used = set(_loads_of(writer, store.operands)) if store else set()
    for value, op in list(writer.waiting.items()):
        if value not in writer.waiting:
            continue
        if store and value in used and not may_overlap(writer, op.operands[0], store.operands[0]):
            continue
        writer.current = op
        _load_now(writer, op)


def _loads_of(writer: KernelWriter, values: Sequence[Value]) -> Iterator[Value]:
    """Iterate over waiting loads from which values are computed in the same loop."""
    waiting, seen = list(values), set()
    while waiting:
        value = waiting.pop()
        if value in seen or value in writer.arrays:
            continue
        seen.add(value)
        if value in writer.waiting:
            yield value
        if value.op is not None and value not in writer.plan.materialized:
            waiting += value.op.operands


def _loaded(writer: KernelWriter, op: Op, position: Position) -> str:
    mask, other = _masked(op)
    address = read(writer, op.operands[0], position)
    element = pointee(op.operands[0])
    writer.need("convert")
    text = from_memory(element, address.element)
    if address.jumps:  # most iterations load neighbors, which is faster
        neighbors = from_memory(element, f"{address.text}[{address.even}]")
        text = f"({address.jumps} ? {text} : {neighbors})"
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
    load_waiting(writer, op)
    writer.current = op
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
