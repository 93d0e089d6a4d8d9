"""What a process holds stays level: leaks.py steps|groups|default COUNT [cpu].

The first half of the repetitions warms up, the second half must not add anything. With `cpu` gloo does the
same with CPU tensors, for comparison.
"""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.distributed as dist
import two_ranks
import xpu_runtime as xr
from torch import nn
from torch.nn.parallel import DistributedDataParallel

DEVICE = torch.device("cpu" if "cpu" in sys.argv[3:] else "xpu")
BACKEND = "gloo" if DEVICE.type == "cpu" else "xccl"

#: Seconds in which threads end and dropped tensors are freed.
SETTLE = 10
#: Threads and files that may be there at one sample and not at the other; a leak has one for each repetition.
TRANSIENT = 3
#: What allocators keep, and what gloo and Python keep of each group or step.
MAX_KILOBYTES, MAX_KILOBYTES_EACH = 8000, 10


@dataclass(frozen=True)
class Held:
    """What the process holds."""

    kilobytes: int
    threads: int
    files: int
    device: int
    reserved: int
    pinned: int

    @classmethod
    def now(cls) -> Held:
        torch.xpu.synchronize()
        dist.barrier()
        gc.collect()
        status = dict(
            line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines()
        )
        return cls(
            kilobytes=int(status["VmRSS"].split()[0]),
            threads=len(list(Path("/proc/self/task").iterdir())),
            files=len(list(Path("/proc/self/fd").iterdir())),
            device=torch.xpu.memory_allocated(),
            reserved=torch.xpu.memory_reserved(),
            pinned=xr.memory.host_stats()["reserved_bytes.current"],
        )


def steps() -> Callable[[], None]:
    network = nn.Sequential(*(nn.Linear(64, 64) for _ in range(8))).to(DEVICE)
    parallel = DistributedDataParallel(network, bucket_cap_mb=0.02)
    optimizer = torch.optim.AdamW(network.parameters())

    def step() -> None:
        optimizer.zero_grad()
        loss = parallel(torch.ones(8, 64, device=DEVICE)).square().mean()
        loss.backward()
        optimizer.step()
        loss.item()

    return step


def check(group: dist.ProcessGroup | None = None) -> None:
    """Use a group."""
    x = torch.ones(1000, device=DEVICE)
    dist.all_reduce(x, group=group)
    send, receive = torch.ones(10, device=DEVICE), torch.zeros(10, device=DEVICE)
    other = 1 - dist.get_rank()
    operations = [
        dist.P2POp(dist.isend, send, other, group=group),
        dist.P2POp(dist.irecv, receive, other, group=group),
    ]
    for work in dist.batch_isend_irecv(operations):
        work.wait()
    assert x.sum().item() == 2000
    assert receive.sum().item() == 10


def groups() -> Callable[[], None]:
    def step() -> None:
        group = dist.new_group()
        check(group)
        dist.destroy_process_group(group)

    return step


def default() -> Callable[[], None]:
    store, starts = os.environ["STORE"], 0

    def step() -> None:
        nonlocal starts
        starts += 1
        dist.destroy_process_group()
        os.environ["STORE"] = f"{store}{starts}"
        two_ranks.start(BACKEND)
        check()

    return step


def settle(wanted: Held) -> Held:
    """Wait until ended threads and dropped tensors are gone; return what the process then holds."""
    end = time.monotonic() + SETTLE
    while True:
        held = Held.now()
        grown = (held.threads, held.files, held.device, held.reserved, held.pinned)
        before = (
            *(wanted.threads + TRANSIENT, wanted.files + TRANSIENT),
            *(wanted.device, wanted.reserved, wanted.pinned),
        )
        settled = torch.tensor([all(n <= m for n, m in zip(grown, before, strict=True))])
        dist.all_reduce(pending := (~settled).int().to(DEVICE))
        is_over = pending.item() == 0
        del pending  # else the next sample would count it
        if is_over or time.monotonic() > end:
            return held
        time.sleep(0.2)


def main() -> None:
    count = int(sys.argv[2])
    two_ranks.start(BACKEND)
    step = {"steps": steps, "groups": groups, "default": default}[sys.argv[1]]()
    for _ in range(count // 2):
        step()
    before = Held.now()
    for _ in range(count - count // 2):
        step()
    after = settle(before)
    print(before)
    print(after)
    for name in ("threads", "files", "device", "reserved", "pinned"):
        got, wanted = getattr(after, name), getattr(before, name)
        allowed = wanted + TRANSIENT if name in ("threads", "files") else wanted
        assert got <= allowed, f"{name}: {wanted} became {got}"
    grown = after.kilobytes - before.kilobytes
    assert grown <= MAX_KILOBYTES + (count - count // 2) * MAX_KILOBYTES_EACH, f"{grown} KB"
    print("level")
    dist.destroy_process_group()


main()
