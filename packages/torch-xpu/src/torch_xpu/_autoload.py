"""The entry point that PyTorch calls at the end of ``import torch``."""

from __future__ import annotations


def load() -> None:
    """Make xpu a device of PyTorch's; no device is touched and no vendor library loaded."""
    from . import _bridge, _torch_bindings  # noqa: F401 - the bridge registers itself when it is loaded

    _torch_bindings.install()
