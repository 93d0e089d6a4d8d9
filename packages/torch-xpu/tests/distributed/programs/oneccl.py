"""A rank whose transport is oneCCL: which collectives it runs, and how it ends without its peer."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import time
from collections import Counter

import torch
import torch.distributed as dist
from two_ranks import DEVICE, start


def recorded() -> Counter[str]:
    """Return the collectives that the gloo group has run: PyTorch's flight record has gloo's only."""
    record = pickle.loads(torch._C._distributed_c10d._dump_fr_trace())
    return Counter(entry["profiling_name"] for entry in record.get("entries", []))


def divided() -> None:
    """What oneCCL has never reaches gloo."""
    rank = start("xccl")
    x = torch.ones(8, device=DEVICE)
    both = torch.zeros(16, device=DEVICE)
    dist.all_reduce(x)
    dist.all_reduce(x, dist.ReduceOp.AVG)
    dist.reduce(x, 0)
    dist.broadcast(x, 0)
    dist.all_gather_into_tensor(both, x)
    dist.all_gather(list(both.chunk(2)), x)
    dist.reduce_scatter_tensor(x, both)
    dist.reduce_scatter(x, list(both.chunk(2)))
    torch.xpu.synchronize()
    assert not recorded(), recorded()
    dist.all_reduce(torch.ones(8, dtype=torch.int32, device=DEVICE), dist.ReduceOp.BAND)
    dist.all_reduce(torch.ones(8, dtype=torch.bool, device=DEVICE))
    dist.all_to_all_single(both, both.clone())
    dist.gather(x, list(both.chunk(2)) if rank == 0 else None)
    dist.scatter(x, list(both.chunk(2)) if rank == 0 else None)
    torch.xpu.synchronize()
    wanted = {"gloo:all_reduce": 2, "gloo:all_to_all": 1, "gloo:gather": 1, "gloo:scatter": 1}
    assert recorded() == wanted, recorded()
    dist.destroy_process_group()


def killed() -> None:
    """The other rank is killed: a wait raises at the timeout, and the process ends with its own status."""
    rank = start("xccl", timeout=3)
    x = torch.ones(1000, device=DEVICE)
    dist.all_reduce(x)
    torch.xpu.synchronize()
    if rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    dist.all_reduce(x)
    begin = time.perf_counter()
    try:
        x.sum().item()
    except Exception as error:  # noqa: BLE001 - the text tells whether it is the right one
        assert "all_reduce number 2" in str(error), error
        assert "timed out after" in str(error), error
    else:
        raise AssertionError("nothing was raised")
    took = time.perf_counter() - begin
    assert 2 < took < 5, took
    print(f"raised at {time.time():.2f}", flush=True)
    sys.exit(7)


def groups() -> None:
    """Groups used at a time, in another order by each rank: all but the default one are gloo's."""
    rank = start("xccl")
    made = [dist.new_group([0, 1]) for _ in range(3)] + [dist.group.WORLD]
    order = made if rank == 0 else made[::-1]
    tensors = {group: torch.full((1000,), 1.0 + i, device=DEVICE) for i, group in enumerate(made)}
    steps = 10
    for _ in range(steps):
        works = [dist.all_reduce(tensors[group], group=group, async_op=True) for group in order]
        for work in works:
            work.wait()
    for i, group in enumerate(made):
        assert tensors[group].cpu().eq(2.0**steps * (1 + i)).all(), tensors[group]
    assert recorded() == {"gloo:all_reduce": 3 * steps}, recorded()
    dist.destroy_process_group()


def again() -> None:
    """The default group is destroyed and made again."""
    for i in range(3):
        os.environ["STORE"] += str(i)
        rank = start("xccl")
        x = torch.full((100,), rank + 1.0, device=DEVICE)
        dist.all_reduce(x)
        assert x.cpu().eq(3).all(), x
        assert not recorded(), recorded()
        dist.destroy_process_group()


def unequal() -> None:
    """With TORCH_DISTRIBUTED_DEBUG=DETAIL unequal sizes raise; without it, oneCCL reduces a part."""
    rank = start("xccl", timeout=10)
    try:
        dist.all_reduce(torch.ones(8 + rank, device=DEVICE))
    except RuntimeError as error:
        print(error)
    dist.destroy_process_group()


{"unequal": unequal, "divided": divided, "killed": killed, "groups": groups, "again": again}[
    sys.argv[1]
]()
