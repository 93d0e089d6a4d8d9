"""The compiler from StableHLO to plans. The plugin calls it with the GIL, on JAX's threads."""

from __future__ import annotations

from typing import Any

# Imports are local, so that importing this package touches no device.


def compile(code: bytes, format: bytes, options: bytes) -> Any:
    """Compile a program to an executable; raise Unsupported or Invalid of ``failures``."""
    from . import executables

    return executables.compile(code, format.decode(), options)


def compile_unfused(code: bytes, format: bytes, options: bytes) -> Any:
    """Compile with one kernel per operation, for vendor compilers that fail on fused kernels."""
    from . import executables

    return executables.compile(code, format.decode(), options, unfused=True)


def load(serialized: bytes, options: bytes) -> Any:
    """Load a serialized executable; raise Invalid if another version serialized it."""
    from . import executables

    return executables.load(serialized, options)
