"""Calls of libdevice's functions."""

from __future__ import annotations

from collections.abc import Sequence

from .elements import rounded, stored
from .errors import UnsupportedKernelError
from .ir.program import Op
from .ir.types import Scalar, element_of
from .libdevice import External, find


def call_text(op: Op, texts: Sequence[str]) -> tuple[str, External]:
    """Return the text of a call of a function of libdevice, and the function."""
    symbol = op.attributes["symbol"]
    found = find(symbol)
    if found is None:
        raise UnsupportedKernelError(
            symbol, "xpu has no such function; write it with operations of tl", op.location
        )
    type = element_of(op.results[0].type)
    assert isinstance(type, Scalar)
    text = found.template.format(*texts)
    if stored(type).kind == "float":
        return rounded(type, text), found
    return f"({type.name})({text})", found
