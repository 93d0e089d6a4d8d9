"""Which values are kept because it costs too much to compute them again."""

from __future__ import annotations

import sys

from ..ir.program import Value
from ..ir.types import Pointer, Scalar, Tensor, element_of
from ..operators import find_operator, is_elementwise
from ..shapes import RENAMING
from .kernel import KernelWriter

# What a value may cost, in additions, before it is kept rather than computed again. Index arithmetic is
# rather
# computed again: loads whose addresses are known to be next to each other are faster.
_MAX_FLOAT_COST, _MAX_INTEGER_COST = 8, 60
_CALL_COST = 10


def _limit(value: Value) -> int:
    type = element_of(value.type)
    is_float = isinstance(type, Scalar) and type.is_float
    if isinstance(type, Pointer):
        return sys.maxsize
    return _MAX_FLOAT_COST if is_float else _MAX_INTEGER_COST


def keep_costly(writer: KernelWriter) -> None:
    """Keep values that cost more to compute in several loops than in one."""
    # A value that is only computed for others which are kept is no longer computed several times.
    chosen: set[Value] = set()
    for value in sorted(writer.demands, key=writer.order.__getitem__, reverse=True):
        demands = [(group, user) for group, user in writer.demands[value] if user not in chosen]
        times = {group for group, _ in demands} | (
            {group for group, user in writer.demands[value] if user in chosen}
        )
        if not demands or not isinstance(value.type, Tensor):
            continue
        if value in writer.repeated:
            limit = _MAX_FLOAT_COST
        elif len(times) > 1:
            limit = _limit(value)
        else:
            continue
        if _cost(writer, value) >= limit:
            chosen.add(value)
    for value in chosen:
        writer.plan.keep(value)


def _cost(writer: KernelWriter, value: Value) -> int:
    """Return what it costs to compute a value from those in arrays."""
    total, waiting, seen = 0, [value], set()
    while waiting:
        item = waiting.pop()
        if (
            item in seen
            or item.op is None
            or (item in writer.plan.materialized and item is not value)
        ):
            continue
        seen.add(item)
        op = item.op
        if op.name == "tt.extern_elementwise":
            total += _CALL_COST
        elif is_elementwise(op):
            total += find_operator(op).cost
        if is_elementwise(op) or op.name in RENAMING:
            waiting += op.operands
    return total
