"""Starts a program as a rank, of two unless RANKS says otherwise; imported by the programs of this folder."""

from __future__ import annotations

import os
from datetime import timedelta

import torch
import torch.distributed as dist

DEVICE = torch.device("xpu")
RANKS = int(os.environ.get("RANKS", "2"))


def start(backend: str | None = None, timeout: float = 30) -> int:
    """Make the default group from the environment's rank and store file; return the rank."""
    rank = int(os.environ["RANK"])
    torch.set_num_threads(1)
    store = dist.FileStore(os.environ["STORE"], RANKS)
    dist.init_process_group(
        backend, store=store, rank=rank, world_size=RANKS, timeout=timedelta(seconds=timeout)
    )
    return rank
