"""Collectives that JAX lowers for the platforms it lists only."""

from __future__ import annotations

from jax._src.interpreters import mlir
from jax._src.lax import parallel


def apply() -> None:
    """Registers JAX's own rule for them, which is of no platform."""
    rule = parallel._pbroadcast_lowering
    mlir.register_lowering(parallel.pbroadcast_p, rule, platform="xpu")
    # Not every JAX can begin it in one place and wait for it in another.
    if hasattr(parallel, "pbroadcast_start_p"):
        start = parallel._start_lowering(rule)
        mlir.register_lowering(parallel.pbroadcast_start_p, start, platform="xpu")
