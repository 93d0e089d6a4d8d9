"""Atomic operations, each by one work-item for an element."""

from __future__ import annotations

from ..elements import is_narrow, memory_type, to_memory
from ..ir.program import Op
from ..ir.types import Pointer, Scalar, Tensor
from ..layouts import Position, row_major_text
from .group import Expr
from .guards import guarded
from .kernel import KernelWriter
from .memory import await_loads, await_stores, pointee, read

_RELAXED = 1
# Functions of the device library, and the kind of number for which they are: "" for any.
_FUNCTIONS = {
    1: ("atomic_and", ""),
    2: ("atomic_or", ""),
    3: ("atomic_xor", ""),
    4: ("atomic_add", ""),
    5: ("atomic_add", ""),
    6: ("atomic_max", ""),
    7: ("atomic_min", ""),
    8: ("atomic_max", "u"),
    9: ("atomic_min", "u"),
    10: ("atomic_exchange", "u"),
}


def emit_atomic(writer: KernelWriter, op: Op) -> None:
    """Write an atomic operation on scalars or on the elements of a tile."""
    pointer = op.operands[0]
    ordered = op.attributes["sem"] != _RELAXED
    await_stores(writer, pointer)
    await_loads(writer, pointer)
    writer.need("atomic")
    if ordered:
        writer.barrier()
        writer.lines.append("fence();")
    if isinstance(op.result.type, Tensor):
        _emit_tile(writer, op)
    else:
        _emit_scalar(writer, op)
    if ordered:
        writer.close()
        writer.lines.append("fence();")
        writer.barrier()


def _emit_scalar(writer: KernelWriter, op: Op) -> None:
    writer.close()
    result = op.result
    text, mask = _text(writer, op, ())
    conditions = [writer.sole_owner, *mask]
    if not writer.choice.uses.of(result):
        writer.lines.append(guarded(conditions, f"{text};"))
        return
    type, name = writer.type_of(result), writer.name("t")
    part = writer.local_buffer(result)
    buffer = part.name
    writer.lines += [
        guarded(conditions, f"{buffer}[0] = {_to_register(op, text)};"),
        writer.barrier_text,
        f"const {type} {name} = {buffer}[0];",
        writer.barrier_text,
    ]
    writer.local.release(part.offset)
    writer.scalars[result] = Expr(name)


def _emit_tile(writer: KernelWriter, op: Op) -> None:
    result = op.result
    layout = writer.choice.of_effect(op, result, *op.operands)
    group = writer.open(op, layout)
    position = group.position(layout)
    text, mask = _text(writer, op, position)
    owner = writer.owner(layout)
    conditions = [*([owner] if owner else []), *mask]
    lines = group.scopes[-1].lines
    if not writer.choice.uses.of(result):
        lines.append(guarded(conditions, f"{text};"))
        return
    type, name = writer.type_of(result), writer.name("t")
    lines.append(f"{type} {name} = ({type}){{}};")
    lines.append(guarded(conditions, f"{name} = {_to_register(op, text)};"))
    if not owner:
        group.scopes[-1].memo[result, position] = Expr(name, group.depth)
        writer.keep_element(result, layout, position, name)
        return
    # The other work-items with the element get it through local memory.
    part = writer.local_buffer(result)
    buffer = part.name
    index = row_major_text(position, writer.widths())
    lines.append(f"if ({owner}) {buffer}[{index}] = {name};")
    writer.close()
    writer.lines.append(writer.barrier_text)
    group = writer.open(op, layout)
    position = group.position(layout)
    index = row_major_text(position, writer.widths())
    register = writer.index_text(layout, position)
    writer.write_element(result, layout, register, f"{buffer}[{index}]", group.scopes[-1].lines)
    group.buffers.append(part)
    writer.close()
    writer.lines.append(writer.barrier_text)


def _to_register(op: Op, text: str) -> str:
    type = pointee(op.operands[0])
    assert isinstance(type, Scalar)
    if type.is_integer:
        return f"({type.name}){text}"
    return f"(float){text}" if is_narrow(type) else text


def _text(writer: KernelWriter, op: Op, position: Position) -> tuple[str, list[str]]:
    """Return the text of an operation on one element, and its mask, if it has one."""
    address = read(writer, op.operands[0], position).address
    type = pointee(op.operands[0])
    if isinstance(type, Pointer):
        raise writer.unsupported(op, "atomic operations on addresses are not supported on xpu")
    values = [read(writer, value, position).text for value in op.operands[1:]]
    stored = memory_type(type)
    if op.name == "tt.atomic_cas":
        expected, desired = (to_memory(type, value) for value in values)
        return f"atomic_cas({address}, ({stored}){expected}, ({stored}){desired})", []
    function, kind = _FUNCTIONS[op.attributes["atomic_rmw_op"]]
    value, *mask = values
    text = to_memory(type, value)
    mask = [m for m in mask if m != "true"]
    if kind == "u" and type.is_integer:
        word = f"u{type.bits}"
        return f"({type.name}){function}((global<{word}>){address}, ({word}){text})", mask
    if function == "atomic_exchange":
        word = f"u{type.bits}"
        call = f"{function}((global<{word}>){address}, bits_as<{word}>({text}))"
        return f"bits_as<{stored}>({call})", mask
    return f"{function}({address}, ({stored}){text})", mask
