"""One of two ranks: reduces tensors as lines of stdin ask for, and prints the seconds that one call took."""

from __future__ import annotations

import os
import sys
import time

import torch
import torch.distributed as dist

RANKS = 2


def main() -> None:
    rank = int(os.environ["RANK"])
    torch.set_num_threads(1)
    store = dist.FileStore(os.environ["STORE"], RANKS)
    dist.init_process_group("cpu:gloo,xpu:xccl", store=store, rank=rank, world_size=RANKS)
    tensors: dict[tuple[str, int], torch.Tensor] = {}
    print("ready", flush=True)
    for line in sys.stdin:
        kind, bytes_, count = line.split()
        device = "cpu" if kind == "cpu" else "xpu"
        key = device, int(bytes_)
        if key not in tensors:
            tensors[key] = torch.zeros(int(bytes_) // 4, device=device)
            dist.all_reduce(tensors[key])
        print(_measure(tensors[key], int(count), only_enqueue=kind == "enqueue"), flush=True)
    dist.destroy_process_group()


def _measure(tensor: torch.Tensor, count: int, only_enqueue: bool) -> float:
    torch.xpu.synchronize()
    dist.barrier()
    begin = time.perf_counter()
    for _ in range(count):
        dist.all_reduce(tensor)
    if not only_enqueue:
        torch.xpu.synchronize()
    seconds = (time.perf_counter() - begin) / count
    torch.xpu.synchronize()
    return seconds


main()
