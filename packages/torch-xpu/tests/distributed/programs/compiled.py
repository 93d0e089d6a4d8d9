"""Collectives inside of torch.compile: one graph, and the values of eager mode."""

from __future__ import annotations

import torch
import torch.distributed as dist
from gpt import batch, loss_of, model
from torch import Tensor
from torch.distributed import _functional_collectives as functional
from torch.nn.parallel import DistributedDataParallel
from two_ranks import DEVICE, RANKS, start


def mixed(x: Tensor) -> tuple[Tensor, ...]:
    doubled = torch.sin(x) * 2
    total = functional.all_reduce(doubled, "sum", dist.group.WORLD)
    gathered = functional.all_gather_single(total + x, 0, dist.group.WORLD)
    part = functional.reduce_scatter_single(gathered.cos(), "sum", 0, dist.group.WORLD)
    exchanged = functional.all_to_all_single(gathered, None, None, dist.group.WORLD)
    several = functional.all_reduce_coalesced([part * 3, exchanged + 1], "sum", dist.group.WORLD)
    return total.exp(), gathered.sum(0), *several


def in_place(x: Tensor) -> Tensor:
    y = x * 2
    dist.all_reduce(y)
    gathered = torch.empty(RANKS * y.shape[0], y.shape[1], device=y.device)
    dist.all_gather_single(gathered, y + x)
    part = torch.empty_like(y)
    dist.reduce_scatter_single(part, gathered.cos())
    return part.sin()


def same(ours: object, theirs: object) -> None:
    torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-5)


rank = start()
x = torch.linspace(-1, 1, 20, device=DEVICE).view(4, 5) * (rank + 1)
for function in (mixed, in_place):
    same(torch.compile(function, fullgraph=True)(x), function(x))

gradients = []
for compiled in (False, True):
    network = DistributedDataParallel(model(layers=1))
    call = torch.compile(network) if compiled else network
    loss_of(call, batch(0).chunk(RANKS)[rank]).backward()
    gradients.append([parameter.grad for parameter in network.parameters()])
same(gradients[1], gradients[0])
print("done")
dist.destroy_process_group()
