"""Rules of collectives that JAX lowers only for a list of platforms."""

from __future__ import annotations

from jax._src.interpreters import mlir
from jax._src.lax import parallel


def apply() -> None:
    """Register JAX's own rule for them, which fits every platform."""
    rule = parallel._pbroadcast_lowering
    mlir.register_lowering(parallel.pbroadcast_p, rule, platform="xpu")
    # Some versions of JAX have an asynchronous form, too.
    if hasattr(parallel, "pbroadcast_start_p"):
        start = parallel._start_lowering(rule)
        mlir.register_lowering(parallel.pbroadcast_start_p, start, platform="xpu")
