"""What JAX decides by platform without asking a plugin, decided for xpu.

Whether buffers can be donated, whether programs can be kept on disk, who compiles ahead of time: JAX looks
its platform up in lists of its own. Each function here changes one of them, and does nothing a second
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
    compile_ahead_by_topologies()


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


def compile_ahead_by_topologies() -> None:
    """What is compiled for a topology its own client compiles, not that of the devices here.

    The latter's ``compile`` keeps Python's lock while a thread of its own calls the plugin, whose compiler
    needs it: the process would stand still. The plugin refuses that way by name.
    """
    from jax._src import compiler

    original = getattr(compiler, "_get_cross_compile_backend", None)
    if original is None or hasattr(original, "__wrapped__"):
        return

    @functools.wraps(original)
    def cross_compile_backend(compile_only: Any) -> Any:
        return None if compile_only.platform == "xpu" else original(compile_only)

    compiler._get_cross_compile_backend = cross_compile_backend
