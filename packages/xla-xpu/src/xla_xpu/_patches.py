"""Patches of decisions that JAX makes by platform name without asking the plugin.

They are donation of buffers, the compilation cache, and compilation ahead of time. Each function patches one
of them, and does nothing the second time. A private name that JAX has removed raises here; that a patch still
has its effect is tested by ``tests/test_patches.py``.
"""

from __future__ import annotations

import functools
from types import SimpleNamespace
from typing import Any


def apply() -> None:
    """Change JAX where it has no interface for plugins. Called once, when JAX loads the plugin."""
    donate_buffers()
    keep_programs_on_disk()
    compile_ahead_by_topologies()


def donate_buffers() -> None:
    """Make ``donate_argnums`` donate memory; JAX otherwise ignores it with a warning."""
    from jax._src.interpreters import mlir

    if "xpu" not in mlir._platforms_with_donation:
        mlir._platforms_with_donation.append("xpu")


def keep_programs_on_disk() -> None:
    """Make JAX use ``jax_compilation_cache_dir`` for xpu."""
    from jax._src import compilation_cache

    original = compilation_cache.is_cache_used
    if hasattr(original, "__wrapped__"):
        return

    @functools.wraps(original)
    def is_cache_used(backend: Any) -> bool:
        if backend.platform == "xpu":
            # JAX decides by platform name, and decides for a GPU as we need it.
            backend = SimpleNamespace(platform="gpu", supports_executable_serialization=True)
        return original(backend)

    compilation_cache.is_cache_used = is_cache_used


def compile_ahead_by_topologies() -> None:
    """Compile for a topology with the topology's own client, not with that of the local devices.

    The latter's ``compile`` holds the GIL while its thread calls the plugin, whose compiler needs the GIL:
    the process would deadlock. The plugin therefore rejects a client in PJRT_Compile.
    """
    from jax._src import compiler

    original = getattr(compiler, "_get_cross_compile_backend", None)
    if original is None or hasattr(original, "__wrapped__"):
        return

    @functools.wraps(original)
    def cross_compile_backend(compile_only: Any) -> Any:
        return None if compile_only.platform == "xpu" else original(compile_only)

    compiler._get_cross_compile_backend = cross_compile_backend
