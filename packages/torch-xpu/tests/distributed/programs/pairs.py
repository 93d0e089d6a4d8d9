"""Collectives beside other features of PyTorch and of Python; the argument names one."""

from __future__ import annotations

import sys
import threading
import time

import torch
import torch.distributed as dist
import xpu_runtime as xr
from torch.utils.data import DataLoader, Dataset
from two_ranks import DEVICE, RANKS, start
from xpu_runtime._native import C


class Squares(Dataset[torch.Tensor]):
    def __len__(self) -> int:
        return 64

    def __getitem__(self, i: int) -> torch.Tensor:
        return torch.full((100,), float(i * i))


def loader() -> None:
    """Workers, forked after the group was made and has been used, load what is then reduced."""
    start()
    dist.all_reduce(torch.ones(4, device=DEVICE))
    batches = DataLoader(
        Squares(), batch_size=4, num_workers=2, pin_memory=True, persistent_workers=True
    )
    for _ in range(3):
        total = torch.zeros(100, device=DEVICE)
        for batch in batches:
            batch = batch.to(DEVICE, non_blocking=True)
            dist.all_reduce(batch, async_op=True).wait()
            total += batch.sum(0)
        assert total.cpu().eq(RANKS * sum(i * i for i in range(64))).all(), total
    dist.barrier()
    dist.destroy_process_group()


def threads() -> None:
    """Two threads have a group each, and use it in another order of time on each rank."""
    rank = start()
    groups = [dist.new_group() for _ in range(2)]
    failures: list[BaseException] = []

    def use(i: int) -> None:
        try:
            stream = torch.xpu.Stream()
            with torch.xpu.stream(stream):
                for repetition in range(100):
                    if (rank + i + repetition // 10) % 2:
                        time.sleep(0.001)
                    x = torch.full((1000 * (1 + i),), float(rank + repetition), device=DEVICE)
                    dist.all_reduce(x, group=groups[i])
                    x.mul_(1 + i)
                    wanted = (1 + i) * (2 * repetition + 1)
                    assert x.sum().item() == wanted * len(x), (i, repetition)
        except BaseException as error:
            failures.append(error)
            raise

    started = [threading.Thread(target=use, args=(i,)) for i in range(2)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()
    assert not failures, failures
    dist.destroy_process_group()


def destroyed() -> None:
    """A group is destroyed with collectives that have not begun: they complete first."""
    rank = start()
    for repetition in range(10):
        group = dist.new_group()
        signal = C.HostSignal(0)
        signal.block(xr.current_stream())
        tensors = [torch.full((1000,), float(rank + i), device=DEVICE) for i in range(20)]
        works = [dist.all_reduce(x, group=group, async_op=True) for x in tensors]
        threading.Timer(0.05, signal.set).start()
        if repetition % 2:
            del works
        dist.destroy_process_group(group)
        torch.xpu.synchronize()
        for i, x in enumerate(tensors):
            assert x.cpu().eq(2 * i + 1).all(), (repetition, i, x)
    dist.destroy_process_group()


def futures() -> None:
    """A future is complete at once; what is behind it on the device comes after the collective."""
    rank = start()
    signal = C.HostSignal(0)
    late = threading.Timer(20, signal.set)
    late.start()
    signal.block(xr.current_stream())
    x = torch.full((1000,), float(rank), device=DEVICE)
    future = dist.all_reduce(x, async_op=True).get_future()
    halved = future.then(lambda done: done.value()[0] / 2)
    sent = torch.full((10,), 5.0 + rank, device=DEVICE)
    # Which has no result on its root, and still uses the tensor.
    dist.broadcast(sent, 0, async_op=True).get_future().wait()
    sent.fill_(7)
    assert future.done()
    y = halved.wait() + 1
    assert not signal.is_set(), "the host has waited"
    late.cancel()
    signal.set()
    assert y.cpu().eq(1.5).all(), y
    assert sent.cpu().eq(7).all(), sent
    received = torch.full((10,), 1.0 + rank, device=DEVICE)
    dist.broadcast(received, 0, async_op=True).get_future().wait()
    assert received.cpu().eq(1).all(), received
    dist.barrier(async_op=True).get_future().wait()
    empty = dist.all_reduce(torch.zeros(0, device=DEVICE), async_op=True).get_future()
    assert empty.wait()[0].numel() == 0
    dist.destroy_process_group()


def waited_for_by_another_stream() -> None:
    """A stream waits for a stream that waits for a large collective, on devices of one core each."""
    rank = start()
    torch.xpu.set_device(rank)
    x = torch.zeros(20_000_000, device="xpu")
    side = torch.xpu.Stream()
    for repetition in range(3):
        if rank == 1:
            time.sleep(0.2)  # so that the other rank waits for longer than its drain thread takes
        with torch.xpu.stream(side):
            y = torch.full((20_000_000,), float(rank), device="xpu")
            dist.all_reduce(y)
        torch.xpu.current_stream().wait_stream(side)
        x.add_(y)
        torch.xpu.current_stream().synchronize()
        assert x[::1_000_000].cpu().eq(repetition + 1).all()
    dist.destroy_process_group()


globals()[sys.argv[1]]()
