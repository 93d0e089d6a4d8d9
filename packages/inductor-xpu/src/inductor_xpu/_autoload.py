"""The entry point that PyTorch calls at the end of ``import torch``."""

from __future__ import annotations


def load() -> None:
    """Register the changes that are made when a program imports Inductor; import nothing of it.

    In a PyTorch of another version than they were made for, there are none: torch-xpu warns, and
    PyTorch has no xpu.
    """
    from torch_xpu import import_hooks, torch_version

    if torch_version.mismatch():
        return
    from . import missing_triton, patches

    missing_triton.explain()
    import_hooks.change({name: patches.apply_to for name in patches.modules()})
