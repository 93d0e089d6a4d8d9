"""The entry point that PyTorch calls at the end of ``import torch``."""

from __future__ import annotations


def load() -> None:
    """Register the changes that are made when a program imports Inductor; import nothing of it."""
    from torch_xpu import import_hooks

    from . import patches

    import_hooks.change({name: patches.apply_to for name in patches.modules()})
