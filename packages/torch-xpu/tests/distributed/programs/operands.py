"""Tensors of many dimensions, with gaps, and on another device; the group is usable after refused ones."""

from __future__ import annotations

import pytest
import torch
import torch.distributed as dist
from two_ranks import DEVICE, start


def check_layouts() -> None:
    x = torch.ones([2] * 13, device=DEVICE).transpose(0, 12)
    dist.all_reduce(x)
    assert (x == 2).all()
    whole, wanted = torch.ones(6, 6, device=DEVICE), torch.ones(6, 6)
    dist.all_reduce(whole[::2, 1::3])
    wanted[::2, 1::3] = 2
    assert torch.equal(whole.cpu(), wanted)


def check_other_device() -> None:
    x = torch.ones(5, device="xpu:1")
    dist.all_reduce(x)
    y = x + 1
    dist.broadcast(y, 1)
    assert (y == 3).all()
    assert torch.xpu.current_device() == 0


def check_refused() -> None:
    overlapping = torch.ones(1, device=DEVICE).expand(4)
    with pytest.raises(RuntimeError, match="more than one element"):
        dist.all_reduce(overlapping)
    with pytest.raises(RuntimeError, match="more than one element"):
        dist.all_gather_into_tensor(overlapping, torch.ones(2, device=DEVICE))
    with pytest.raises(RuntimeError, match="a graph captures the current stream"):
        with torch.xpu.graph(torch.xpu.XPUGraph()):
            dist.all_reduce(torch.ones(3, device=DEVICE))


def main() -> None:
    start()
    check_layouts()
    check_other_device()
    check_refused()
    x = torch.ones(3, device=DEVICE)
    dist.all_reduce(x)
    assert (x == 2).all()
    dist.destroy_process_group()


main()
