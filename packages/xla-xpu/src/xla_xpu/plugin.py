"""The entry point of the group ``jax_plugins``, which registers the platform with JAX."""

from __future__ import annotations

import atexit
import warnings

import jax
import jax._src.xla_bridge as bridge


def initialize() -> None:
    """Register the platform ``xpu`` if JAX may use it and the machine has such a device.

    Otherwise JAX behaves as if this package were not installed: a registered platform without a device
    would fail every use of JAX. With a JAX of another version than the wheel requires, warn and leave it
    alone.
    """
    if not _is_requested():
        return
    from .jax_version import mismatch

    if wrong := mismatch():
        warnings.warn(f"{wrong.reason}. Run: {wrong.fix}", stacklevel=2)
        return
    import xpu_runtime
    from xpu_runtime import process

    if xpu_runtime.device_count() == 0:
        return
    from . import _dlpack, _launch, _patches, _plugin, rules

    bridge._nonexperimental_plugins.add("xpu")
    bridge.register_plugin("xpu", priority=500, library_path=_plugin.__file__)
    _patches.apply()
    _dlpack.apply()
    _launch.apply()
    rules.apply()
    # Drains while callbacks can still call the interpreter.
    atexit.register(process.wait_at_exit, _plugin.is_drained)


def _is_requested() -> bool:
    """Return False if the user named platforms without xpu."""
    platforms = jax.config.jax_platforms
    return not platforms or "xpu" in platforms.split(",")
