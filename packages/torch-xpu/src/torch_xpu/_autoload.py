"""The entry point that PyTorch calls at the end of ``import torch``."""

from __future__ import annotations

import os

from .torch_version import mismatch


def load() -> None:
    """Make xpu a device of PyTorch's; no device is touched and no vendor library loaded.

    In a PyTorch of another version than this was compiled for, warn and leave PyTorch as it is.
    """
    if wrong := mismatch():
        import warnings

        warnings.warn(f"{wrong.reason}. Run: {wrong.fix}", stacklevel=2)
        return
    if "LOCAL_WORLD_SIZE" in os.environ:
        from ._local_ranks import divide_cpu

        divide_cpu()
    from . import _bridge, _torch_bindings  # noqa: F401 - the bridge registers itself when it is loaded

    _torch_bindings.install()
