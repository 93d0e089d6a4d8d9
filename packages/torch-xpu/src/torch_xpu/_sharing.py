"""Tensors on xpu in ``torch.multiprocessing``: memory of the device cannot be shared with another process.

PyTorch would find out in the thread that feeds a queue, which prints the error and sends nothing, so that the
receiver waits for ever.
"""

from __future__ import annotations

import threading
from multiprocessing.reduction import ForkingPickler
from typing import Any

import torch

from . import import_hooks


def _explain(device: torch.device) -> str:
    return (
        f"a tensor on {device} cannot be sent to another process: send tensor.cpu(), and move it there "
        "with .to('xpu'). Workers of a DataLoader return tensors of the CPU; with pin_memory=True the "
        "batches are moved by batch.to('xpu', non_blocking=True)"
    )


def _raise(text: str) -> None:
    raise RuntimeError(text)


def _refuse_xpu(reductions: Any) -> None:
    stock = reductions.reduce_storage

    def reduce_storage(storage: torch.UntypedStorage) -> Any:
        if storage.device.type != "xpu":
            return stock(storage)
        text = _explain(storage.device)
        # What is raised in a queue's thread is lost, so the receiver raises it.
        if threading.current_thread().name == "QueueFeederThread":
            return _raise, (text,)
        raise RuntimeError(text)

    reductions.reduce_storage = reduce_storage
    ForkingPickler.register(torch.UntypedStorage, reduce_storage)


def install() -> None:
    """Let sending a tensor on xpu raise in the sender or, from a queue, in the receiver."""
    import_hooks.change({"torch.multiprocessing.reductions": _refuse_xpu})
