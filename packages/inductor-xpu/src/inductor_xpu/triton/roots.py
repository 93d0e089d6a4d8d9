"""Which argument a pointer points into."""

from __future__ import annotations

from .ir.program import Value
from .ir.types import Tensor

_PASSED = {
    "tt.addptr",
    "tt.splat",
    "tt.broadcast",
    "tt.expand_dims",
    "tt.reshape",
    "tt.trans",
    "tt.bitcast",
}


def root_of(value: Value, carried: dict[Value, list[Value]]) -> Value | None:
    """Return the value that addresses are computed from, such as an argument; None if it is not one value."""
    seen: set[Value] = set()
    while value not in seen:
        seen.add(value)
        if value in carried:
            value = carried[value][0]
        elif value.op is None:
            return value
        elif value.op.name in _PASSED:
            value = value.op.operands[0]
        else:
            return None if isinstance(value.type, Tensor) else value
    return None
