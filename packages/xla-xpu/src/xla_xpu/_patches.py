"""Lists inside JAX that name the platforms it knows, with xpu added.

JAX asks no plugin whether it can donate buffers or whether its programs can be kept on disk: it looks
its platform up in lists of its own. Each function here adds to one of them, and does nothing a second
time. A name that is gone raises here; what a name has come to mean is held by ``tests/test_patches.py``.
"""

from __future__ import annotations

import functools
from types import SimpleNamespace
from typing import Any


def apply() -> None:
    """All of them."""
    donate_buffers()
    keep_programs_on_disk()


def donate_buffers() -> None:
    """``donate_argnums`` gives memory away instead of being ignored with a warning."""
    from jax._src.interpreters import mlir

    if "xpu" not in mlir._platforms_with_donation:
        mlir._platforms_with_donation.append("xpu")


def keep_programs_on_disk() -> None:
    """``jax_compilation_cache_dir`` is used for xpu too."""
    from jax._src import compilation_cache

    original = compilation_cache.is_cache_used
    if hasattr(original, "__wrapped__"):
        return

    @functools.wraps(original)
    def is_cache_used(backend: Any) -> bool:
        if backend.platform == "xpu":
            # The question is answered by platform; a GPU's answer is ours.
            backend = SimpleNamespace(platform="gpu", supports_executable_serialization=True)
        return original(backend)

    compilation_cache.is_cache_used = is_cache_used
