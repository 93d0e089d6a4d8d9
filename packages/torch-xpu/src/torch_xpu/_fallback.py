"""Operators that ran on the host because xpu has no kernel for them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from .torch_version import mismatch


def _native():
    if wrong := mismatch():
        raise ImportError(f"{wrong.reason}. Run: {wrong.fix}")
    from . import _device

    return _device


def fallbacks() -> dict[str, int]:
    """Return how often each operator ran on the host since the start or the last reset."""
    return _native().fallbacks()


def reset_fallbacks() -> None:
    """Start the counts again."""
    _native().reset_fallbacks()


@contextmanager
def using_fallback(mode: str) -> Iterator[None]:
    """``error``, ``warn`` or ``allow`` for the length of a ``with`` block, whatever XPU_FALLBACK says."""
    before = fallback_mode()
    _native().set_fallback_mode(mode)
    try:
        yield
    finally:
        _native().set_fallback_mode(before)


def fallback_mode() -> str:
    """Return what happens to an operator without an xpu kernel."""
    return _native().fallback_mode()
