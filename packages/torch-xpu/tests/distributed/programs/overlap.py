"""Communication of DDP beside its backward pass: what the host enqueues, and what the device does."""

from __future__ import annotations

import threading

import torch
import torch.distributed as dist
import xpu_runtime as xr
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel
from two_ranks import DEVICE, RANKS, start
from xpu_runtime._native import C

LAYERS = 16
WIDTH = 512
ROWS = 512
#: DDP measures its first ten steps, and waits for the results.
WARM_UP = 12
LIMIT = 60


def model() -> nn.Sequential:
    """Return a chain of layers with the same weights in every process."""
    torch.manual_seed(0)
    return nn.Sequential(*(nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(LAYERS))).to(DEVICE)


def batches() -> list[Tensor]:
    """Return the batch of each rank."""
    torch.manual_seed(1)
    return [torch.randn(ROWS, WIDTH, device=DEVICE) for _ in range(RANKS)]


def step(network: nn.Module, batch: Tensor) -> None:
    network.zero_grad()
    network(batch).square().mean().backward()


def collectives() -> int:
    """Return how many collectives the default group has enqueued."""
    return dist.group.WORLD._get_backend(DEVICE)._get_sequence_number_for_group()


def host_does_not_wait(network: DistributedDataParallel, batch: Tensor) -> None:
    """A step, with all its buckets, is enqueued while the device is kept from beginning it."""
    signal = C.HostSignal(0)
    late = threading.Timer(LIMIT, signal.set)
    late.start()
    signal.block(xr.current_stream())
    before = collectives()
    step(network, batch)
    buckets = collectives() - before
    assert not signal.is_set(), "the host waits for the device between the first bucket and the end"
    late.cancel()
    signal.set()
    assert buckets >= LAYERS // 2, buckets
    print(f"{buckets} buckets enqueued before the device began")


def check_gradients(network: DistributedDataParallel) -> None:
    """The gradients are the means of those that this process computes alone."""
    alone = model()
    for batch in batches():
        (alone(batch).square().mean() / RANKS).backward()
    for got, wanted in zip(network.parameters(), alone.parameters(), strict=True):
        torch.testing.assert_close(got.grad, wanted.grad, rtol=1e-4, atol=1e-7)


def device_computes_meanwhile(network: DistributedDataParallel, batch: Tensor) -> None:
    """Print how many buckets are on the way before the device has ended the backward pass.

    On a core of its own a rank cannot compute and copy at once, so the number is not checked.
    """
    dist.barrier()
    xr.trace.start()
    step(network, batch)
    torch.xpu.synchronize()
    records = xr.trace.stop()
    on_the_way = [
        (record.host_begin, record.host_end)
        for record in records
        if record.kind.name == "span" and record.name == "xccl:all_reduce"
    ]
    # The layers' products and what is between them; the copies out of the buckets come later.
    products = [record for record in records if record.kind.name == "dnn" and record.device_end]
    begin, end = products[0].device_begin, max(record.device_end for record in products)
    early = sum(first < end for first, _ in on_the_way)
    share = sum(max(0, min(end, last) - max(begin, first)) for first, last in on_the_way)
    print(f"{early} of {len(on_the_way)} buckets on the way before the last product ends, ", end="")
    print(f"{share / sum(last - first for first, last in on_the_way):.0%} of their time")
    assert len(on_the_way) >= LAYERS // 2, len(on_the_way)


def main() -> None:
    rank = start()
    network = DistributedDataParallel(model(), bucket_cap_mb=WIDTH * WIDTH * 4 / 2**20)
    batch = batches()[rank]
    for _ in range(WARM_UP):
        step(network, batch)
    torch.xpu.synchronize()
    host_does_not_wait(network, batch)
    check_gradients(network)
    device_computes_meanwhile(network, batch)
    dist.destroy_process_group()


main()
