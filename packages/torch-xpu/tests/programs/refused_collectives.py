"""Collectives of gloo are refused on tensors of xpu."""

import pytest
import torch
import torch.distributed as dist

import torch_xpu

dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
x = torch.ones(4, device="xpu")
y = torch.zeros(4, device="xpu")
with torch_xpu.using_fallback("allow"):
    for collective in (
        lambda: dist.all_reduce(x),
        lambda: dist.broadcast(x, 0),
        lambda: dist.all_gather_into_tensor(y, x),
        lambda: dist.reduce_scatter_tensor(y, x),
        lambda: dist.all_gather([y], x),
        lambda: dist.all_to_all_single(y, x),
        lambda: dist.group.WORLD.send([x], 0, 0),
        lambda: dist.group.WORLD.recv([x], 0, 0),
    ):
        with pytest.raises(NotImplementedError, match=r'c10d::.*the backend "gloo"'):
            collective()
assert y.tolist() == [0] * 4
host = torch.ones(4)
dist.all_reduce(host)
assert host.tolist() == [1] * 4
dist.destroy_process_group()
