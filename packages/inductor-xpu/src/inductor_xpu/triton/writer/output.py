"""Output of kernels: tl.device_print."""

from __future__ import annotations

from ..elements import register_type
from ..ir.program import Op, Value
from ..ir.types import Pointer, Tensor, element_of
from ..layouts import number_text
from .guards import guarded
from .kernel import KernelWriter
from .memory import read

DECLARATION = (
    "template <class... A> __attribute__((sycl_device)) extern int __spirv_ocl_printf("
    "const __attribute__((opencl_constant)) char*, A...);"
)


def emit_print(writer: KernelWriter, op: Op) -> None:
    """Write a line for each element: the program's ids, the position, the text and the value."""
    writer.preludes[DECLARATION] = None
    ids = [f"(i32)group_id({dim})" for dim in range(3)]
    prefix = op.attributes["prefix"].replace("%", "%%")
    signs = op.attributes.get("isSigned") or [1] * len(op.operands)
    for number, value in enumerate(op.operands):
        which = f"(operand {number}) " if len(op.operands) > 1 else ""
        form, cast = _form(value, bool(op.attributes.get("hex")), bool(signs[number]))
        if isinstance(value.type, Tensor):
            _print_tile(writer, op, value, f"{prefix}{which}{form}", cast, ids)
        else:
            text = writer.scalar(value).address
            writer.close()
            line = _call(
                "pid (%d, %d, %d) idx ()", f"{prefix}{which}{form}", [*ids, f"{cast}({text})"]
            )
            writer.lines.append(guarded([writer.sole_owner], line))
    if not op.operands:
        writer.close()
        line = _call("pid (%d, %d, %d) idx ()", prefix, ids)
        writer.lines.append(guarded([writer.sole_owner], line))


def _print_tile(
    writer: KernelWriter, op: Op, value: Value, form: str, cast: str, ids: list[str]
) -> None:
    layout = writer.choice.of(value)
    group = writer.open(op, layout)
    position = group.position(layout)
    text = read(writer, value, position).address
    index = [f"(i32){number_text(dim, writer.widths())}" for dim in position]
    owner = writer.owner(layout)
    head = f"pid (%d, %d, %d) idx ({', '.join(['%d'] * len(index))})"
    line = _call(head, form, [*ids, *index, f"{cast}({text})"])
    group.scopes[-1].lines.append(guarded([owner] if owner else [], line))


def _call(head: str, form: str, values: list[str]) -> str:
    text = f"{head}{form}".replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    declaration = f'static const __attribute__((opencl_constant)) char form[] = "{text}\\n";'
    return f"{{ {declaration} __spirv_ocl_printf({', '.join(['form', *values])}); }}"


def _form(value: Value, is_hex: bool, is_signed: bool) -> tuple[str, str]:
    """Return the format of a value, and the cast to the type that it is of."""
    type = element_of(value.type)
    if isinstance(type, Pointer):
        return "0x%lx", "(u64)"
    if type.is_float:
        return "%f", f"({register_type(type)})"
    wide = type.bits > 32
    if is_hex:
        return ("0x%lx", "(u64)") if wide else ("0x%x", f"(u32)(u{max(type.bits, 8)})")
    kind = "i" if is_signed or type.name == "i1" else "u"
    letter = {"i": "d", "u": "u"}[kind]
    return (f"%l{letter}", f"({kind}64)") if wide else (f"%{letter}", f"({kind}32)")
