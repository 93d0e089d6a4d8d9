"""The entry point that PyTorch calls at the end of ``import torch``."""

from __future__ import annotations


def load() -> None:
    """Register the changes that are made when a program imports Inductor; import nothing of it.

    In a PyTorch of another version than they were made for, there are none, and graphs run uncompiled.
    """
    import warnings

    import torch
    from torch_xpu import import_hooks

    from . import patches

    if not torch.__version__.startswith(f"{patches.TORCH}."):
        warnings.warn(
            f"inductor-xpu is for PyTorch {patches.TORCH}, and this is {torch.__version__}: "
            "torch.compile runs graphs with tensors on xpu uncompiled.",
            stacklevel=2,
        )
        return
    import_hooks.change({name: patches.apply_to for name in patches.modules()})
