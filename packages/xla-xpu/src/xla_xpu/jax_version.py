"""Whether this JAX is one that the package's patches and rules fit."""

from __future__ import annotations

import functools

from jax.version import __version__
from xpu_runtime.framework_version import Mismatch, find_mismatch


@functools.cache
def mismatch() -> Mismatch | None:
    """Return None if the plugin may register with JAX and change it."""
    return find_mismatch("xla-xpu", "jax", __version__)
