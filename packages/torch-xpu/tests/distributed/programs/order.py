"""Random mixes of kernels, streams and collectives: the values are those of one stream without collectives.

Each rank also computes, on one stream, what both ranks hold; a sum of two numbers has the same bits in any
order. The argument names a wait that is left out, which must change a value.
"""

from __future__ import annotations

import random
import sys
from dataclasses import dataclass, field

import torch
import torch.distributed as dist
from torch import Tensor
from two_ranks import DEVICE, start

MIXES = int(sys.argv[1])
MUTATION = sys.argv[2] if len(sys.argv) > 2 else ""
ELEMENTS = 3000
TENSORS = 4
ACTIONS = 12
KINDS = ["kernel"] * 3 + ["all_reduce", "broadcast", "exchange", "all_to_all", "all_gather"]


@dataclass
class Slot:
    """A tensor, and what its next user waits for."""

    value: Tensor
    stream: torch.xpu.Stream
    works: list[dist.Work] = field(default_factory=list)


def slow(size: int = 384) -> None:
    """Delay the current stream by some milliseconds."""
    a = torch.ones(size, size, device=DEVICE)
    for _ in range(4):
        a = a @ a
        a.mul_(0.5)


def acquire(slot: Slot, stream: torch.xpu.Stream) -> None:
    """Let the stream, which is current, wait for the work that uses the tensor."""
    if MUTATION != "work":
        for work in slot.works:
            work.wait()
    slot.works = []
    if slot.stream != stream and MUTATION != "caller":
        stream.wait_stream(slot.stream)
    slot.stream = stream


def collective(kind: str, rank: int, root: int, x: Tensor) -> list[dist.Work]:
    if kind == "all_reduce":
        return [dist.all_reduce(x, async_op=True)]
    if kind == "broadcast":
        return [dist.broadcast(x, root, async_op=True)]
    if kind == "exchange":
        received = torch.empty_like(x)
        works = [dist.isend(x, 1 - rank), dist.irecv(received, 1 - rank)]
        for work in works:
            work.wait()
        x.copy_(received)
        return []
    out = torch.empty_like(x)
    if kind == "all_to_all":
        dist.all_to_all_single(out, x)
    else:
        dist.all_gather_into_tensor(out, x[: ELEMENTS // 2])
    x.copy_(out)
    return []


def alone(kind: str, root: int, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """Return what both ranks hold afterwards."""
    half = ELEMENTS // 2
    if kind == "all_reduce":
        return a + b, a + b
    if kind == "broadcast":
        return ((a, a.clone()), (b, b.clone()))[root]
    if kind == "exchange":
        return b, a
    if kind == "all_to_all":
        return torch.cat([a[:half], b[:half]]), torch.cat([a[half:], b[half:]])
    gathered = torch.cat([a[:half], b[:half]])
    return gathered, gathered.clone()


def mix(seed: int, rank: int, streams: list[torch.xpu.Stream]) -> bool:
    """Run one mix; return True if all values are right."""
    shared, own = random.Random(seed), random.Random(1000 * seed + rank)
    generator = torch.Generator().manual_seed(seed)
    first = torch.rand(2, TENSORS, ELEMENTS, generator=generator)
    current = torch.xpu.current_stream()
    slots = [Slot(first[rank, i].to(DEVICE), current) for i in range(TENSORS)]
    wanted = [[first[of, i].to(DEVICE) for i in range(TENSORS)] for of in range(2)]
    torch.xpu.synchronize()
    for _ in range(ACTIONS):
        kind, i, root = shared.choice(KINDS), shared.randrange(TENSORS), shared.randrange(2)
        factor = shared.uniform(0.5, 1.5)
        stream = own.choice(streams)
        with torch.xpu.stream(stream):
            acquire(slots[i], stream)
            if own.random() < 0.4:
                slow()
            if kind == "kernel":
                slots[i].value.mul_(factor).add_(1)
            else:
                slots[i].works = collective(kind, rank, root, slots[i].value)
        if kind == "kernel":
            for of in range(2):
                wanted[of][i] = wanted[of][i].mul(factor).add(1)
        else:
            wanted[0][i], wanted[1][i] = alone(kind, root, wanted[0][i], wanted[1][i])
    for slot in slots:
        acquire(slot, current)
    same = [torch.equal(slot.value, wanted[rank][i]) for i, slot in enumerate(slots)]
    torch.xpu.synchronize()
    return all(same)


def main() -> None:
    rank = start("xccl")
    streams = [torch.xpu.Stream() for _ in range(3)]
    wrong = [seed for seed in range(MIXES) if not mix(seed, rank, streams)]
    dist.barrier()
    dist.destroy_process_group()
    print(f"{len(wrong)} of {MIXES} mixes are wrong: {wrong[:10]}")


main()
