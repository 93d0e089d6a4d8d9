"""What JAX calls to learn about xpu; the entry point of the group ``jax_plugins``."""

from __future__ import annotations

import atexit

import jax
import jax._src.xla_bridge as bridge


def initialize() -> None:
    """Registers the platform ``xpu`` where this process may use it and the machine has such a device.

    Where it is not registered, JAX behaves as if this package were not installed: a platform that
    was registered and then has no device would fail every use of JAX.
    """
    if not _asked_for():
        return
    import xpu_runtime
    from xpu_runtime import process

    if xpu_runtime.device_count() == 0:
        return
    from . import _dlpack, _patches, _plugin, rules

    bridge._nonexperimental_plugins.add("xpu")
    bridge.register_plugin("xpu", priority=500, library_path=_plugin.__file__)
    _patches.apply()
    _dlpack.apply()
    rules.apply()
    # While there is an interpreter that callbacks may call.
    atexit.register(process.wait_at_exit, _plugin.is_drained)


def _asked_for() -> bool:
    """False when the user named platforms and xpu is none of them."""
    platforms = jax.config.jax_platforms
    return not platforms or "xpu" in platforms.split(",")
