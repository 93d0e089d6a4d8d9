"""Assertions and barriers."""

from __future__ import annotations

from ..ir.program import Op
from ..ir.types import Tensor
from .guards import guarded
from .kernel import KernelWriter
from .memory import read


def emit_assert(writer: KernelWriter, op: Op) -> None:
    """Write a check of the user's: the first that fails is noted in the device's fault record."""
    condition = op.operands[0]
    message = op.attributes["message"]
    where = f" ({op.location})" if op.location else ""
    # In the text of a fault {a} and {b} stand for numbers.
    text = f"{message}{where}".replace("{a}", "{ a }").replace("{b}", "{ b }")
    code = writer.faults.setdefault(("tl.device_assert", text), f"code{len(writer.faults)}")
    writer.need("fault")
    call = f"fault(record, {code}, 0, 0);"
    if not isinstance(condition.type, Tensor):
        text = writer.scalar(condition).text
        writer.close()
        writer.lines.append(guarded([writer.sole_owner, f"!{text}"], call))
        return
    layout = writer.choice.of(condition)
    group = writer.open(op, layout)
    text = read(writer, condition, group.position(layout)).text
    owner = writer.owner(layout)
    line = guarded([*([owner] if owner else []), f"!{text}"], call)
    group.scopes[-1].lines.append(line)


def emit_barrier(writer: KernelWriter, op: Op) -> None:
    """Write a barrier of the user's."""
    writer.barrier()
