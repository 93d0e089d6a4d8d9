"""Operations that are written where they stand: those with effects, and those whose results have arrays."""

from __future__ import annotations

from collections.abc import Callable

from ..errors import UnsupportedKernelError
from ..ir.program import Block, Op
from ..ir.types import Tensor
from ..operators import is_elementwise
from ..shapes import RENAMING
from .atomics import emit_atomic
from .control import emit_for, emit_if, emit_while
from .dot import emit_dot
from .effects import emit_assert, emit_barrier
from .kernel import KernelWriter
from .lookups import emit_gather, emit_histogram, emit_unsplat
from .memory import emit_load, emit_store, load_waiting
from .output import emit_print
from .reductions import emit_reduce
from .scans import emit_scan


def _emit_nothing(writer: KernelWriter, op: Op) -> None:
    """Write nothing for a hint to the compiler."""


_EFFECTS: dict[str, Callable[[KernelWriter, Op], None]] = {
    "tt.load": emit_load,
    "tt.store": emit_store,
    "tt.atomic_rmw": emit_atomic,
    "tt.atomic_cas": emit_atomic,
    "tt.reduce": emit_reduce,
    "tt.scan": emit_scan,
    "tt.dot": emit_dot,
    "tt.gather": emit_gather,
    "tt.histogram": emit_histogram,
    "tt.unsplat": emit_unsplat,
    "tt.assert": emit_assert,
    "tt.print": emit_print,
    "ttg.barrier": emit_barrier,
    "gpu.barrier": emit_barrier,
    "scf.for": emit_for,
    "scf.if": emit_if,
    "scf.while": emit_while,
    "llvm.intr.assume": _emit_nothing,
}
# Loads before these are written before them. Stores see to it themselves.
_ORDERED = {
    "tt.atomic_rmw",
    "tt.atomic_cas",
    "ttg.barrier",
    "gpu.barrier",
    "scf.for",
    "scf.if",
    "scf.while",
}
_LAZY = {
    "tt.make_range",
    "tt.addptr",
    "tt.int_to_ptr",
    "tt.ptr_to_int",
    "tt.get_program_id",
    "tt.get_num_programs",
    *RENAMING,
}
_REASONS = {
    "tt.dot_scaled": "tl.dot_scaled is not supported on xpu; multiply by the scales before tl.dot",
    "tt.map_elementwise": "not supported on xpu; write the function with operations of tl on tiles",
    "tt.elementwise_inline_asm": "assembly of another device cannot run on xpu",
    "tt.make_tensor_descriptor": "descriptors are not supported on xpu here; use tl.load with a mask",
}


def emit(writer: KernelWriter, op: Op) -> None:
    """Write an operation, or nothing if its results are computed where they are used."""
    if op.name in _ORDERED:
        load_waiting(writer)
    writer.current = op
    writer.storage.advance()
    effect = _EFFECTS.get(op.name)
    try:
        _write(writer, op, effect)
    except UnsupportedKernelError as error:
        if error.location is not None or op.location is None:
            raise
        raise UnsupportedKernelError(error.operation, error.reason, op.location) from error


def _write(writer: KernelWriter, op: Op, effect: Callable[[KernelWriter, Op], None] | None) -> None:
    if effect is not None:
        effect(writer, op)
    elif op.name in _LAZY or is_elementwise(op):
        _emit_pure(writer, op)
    else:
        reason = _REASONS.get(op.name, "this operation is not supported on xpu")
        raise writer.unsupported(op, reason)


def emit_block(writer: KernelWriter, block: Block) -> None:
    """Write the operations of a block but the last, which ends it."""
    for op in block.ops[:-1]:
        emit(writer, op)


def _emit_pure(writer: KernelWriter, op: Op) -> None:
    for value in op.results:
        if isinstance(value.type, Tensor):
            if value in writer.plan.materialized:
                layout = writer.choice.of(value)
                position = writer.open(op, layout).position(layout)
                text = writer.element(value, position).address
                writer.keep_element(value, layout, position, text)
        else:
            if writer.group is not None and not writer.group.results.isdisjoint(op.operands):
                writer.close()
            if value not in writer.scalars or writer.group is None:
                writer.scalars.pop(value, None)
                writer.scalar(value)
