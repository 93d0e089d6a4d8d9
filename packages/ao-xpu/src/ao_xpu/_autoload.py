"""The entry point that PyTorch calls at the end of ``import torch``."""

from __future__ import annotations

import logging
import sys
from types import ModuleType

logger = logging.getLogger("ao_xpu")

# The version of torchao whose code the replacements fit.
TORCHAO = "0.18.0"

_is_loaded = False


def load() -> None:
    """Register the changes that are made when a program imports torchao; import nothing of it.

    There are none in a PyTorch of another version than torch-xpu is for, about which that warns.
    """
    global _is_loaded
    if _is_loaded:
        return
    _is_loaded = True
    from torch_xpu import import_hooks, torch_version

    if torch_version.mismatch():
        return

    logging.getLogger("torchao").addFilter(_is_about_this_torch)
    torchao = sys.modules.get("torchao")
    if torchao is not None and getattr(torchao.__spec__, "_initializing", False):
        # It was imported before torch, which it imports now. The submodule is the last that it imports.
        import_hooks.change({"torchao.testing": lambda _: _change(torchao)})
    else:
        import_hooks.change({"torchao": _change})


def _change(torchao: ModuleType) -> None:
    """Make the replacements, or log why there are none."""
    import torch
    from torch_xpu import import_hooks

    version = torchao.__version__
    if version.partition("+")[0] != TORCHAO:
        logger.warning("torchao is unchanged: ao-xpu is for %s, this is %s", TORCHAO, version)
        return
    if not torch.xpu.is_available():
        logger.info("torchao is unchanged: there is no xpu device")
        return
    from . import patches

    import_hooks.change({name: patches.apply_to for name in patches.modules()})


def _is_about_this_torch(record: logging.LogRecord) -> bool:
    """Return False for warnings that a torch without CUDA cannot load torchao's libraries for CUDA."""
    import torch

    message = record.getMessage()
    is_cuda_library = "/_C_cutlass" in message or "/_C_mxfp8" in message
    is_failure = message.startswith("Failed to load ")
    return torch.version.cuda is not None or not (is_failure and is_cuda_library)
