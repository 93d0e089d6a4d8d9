"""From StableHLO to plans. The plugin calls ``compile`` and ``load``, on a thread of JAX's."""

from __future__ import annotations

from typing import Any

# The plugin's own module is imported by JAX's side only: nothing here touches a device before that.


def compile(code: bytes, format: bytes, options: bytes) -> Any:
    """An executable of a program; raises what ``failures`` has."""
    from . import executables

    return executables.compile(code, format.decode(), options)


def compile_unfused(code: bytes, format: bytes, options: bytes) -> Any:
    """The same with a kernel for each operation."""
    from . import executables

    return executables.compile(code, format.decode(), options, unfused=True)


def load(serialized: bytes, options: bytes) -> Any:
    """The executable that was serialized."""
    from . import executables

    return executables.load(serialized, options)
