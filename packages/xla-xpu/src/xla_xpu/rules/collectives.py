"""Rules of collectives that JAX lowers only for a list of platforms."""

from __future__ import annotations

from jax._src.interpreters import mlir
from jax._src.lax import parallel


def apply() -> None:
    """Register JAX's own rule for them, which fits every platform."""
    rule = parallel._pbroadcast_lowering
    mlir.register_lowering(parallel.pbroadcast_p, rule, platform="xpu")
    # Not every version of JAX has an asynchronous form.
    if hasattr(parallel, "pbroadcast_start_p"):
        start = parallel._start_lowering(rule)
        mlir.register_lowering(parallel.pbroadcast_start_p, start, platform="xpu")
