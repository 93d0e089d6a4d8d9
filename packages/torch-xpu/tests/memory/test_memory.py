"""Device memory and pinned host memory under PyTorch."""

import gc

import pytest
import torch
import xpu_runtime
from xpu_testing import assert_close, run_child

MB = 1 << 20


def test_counters_are_exact():
    gc.collect()
    before = torch.xpu.memory_allocated()
    tensor = torch.empty(3 * MB, dtype=torch.uint8, device="xpu")
    assert torch.xpu.memory_allocated() - before == 3 * MB
    assert torch.xpu.memory_reserved() >= torch.xpu.memory_allocated()
    del tensor
    assert torch.xpu.memory_allocated() == before


def test_peak():
    torch.xpu.reset_peak_memory_stats()
    start = torch.xpu.max_memory_allocated()
    tensor = torch.empty(8 * MB, dtype=torch.uint8, device="xpu")
    del tensor
    assert torch.xpu.max_memory_allocated() - start == 8 * MB


def test_statistics_count_the_memory_of_each_framework():
    torch.xpu.synchronize()
    tensor = torch.empty(MB, dtype=torch.uint8, device="xpu")
    stats = torch.xpu.memory_stats()
    assert stats["owner.torch.current"] == stats["allocated_bytes.all.current"]
    assert "torch" in torch.xpu.memory_summary()
    other = xpu_runtime.empty((MB,), "u8")
    assert torch.xpu.memory_stats()["owner.torch.current"] == stats["owner.torch.current"]
    assert torch.xpu.memory_allocated() == stats["allocated_bytes.all.current"] + MB
    del tensor, other


def test_statistics_have_pytorchs_keys():
    torch.empty(MB, dtype=torch.uint8, device="xpu")
    ours, generic = torch.xpu.memory_stats(), torch.accelerator.memory_stats()
    assert {key for key in ours if not key.startswith("owner.")} == set(generic)


def test_accelerator_statistics():
    tensor = torch.empty(MB, dtype=torch.uint8, device="xpu")
    assert torch.accelerator.memory_allocated() == torch.xpu.memory_allocated()
    del tensor


def test_memory_of_the_whole_device():
    free, total = torch.xpu.mem_get_info()
    assert 0 < free <= total
    tensor = torch.empty(MB, dtype=torch.uint8, device="xpu")
    assert tensor.nbytes <= torch.xpu.device_memory_used() <= total


def test_empty_cache():
    tensor = torch.empty(64 * MB, dtype=torch.uint8, device="xpu")
    del tensor
    torch.xpu.empty_cache()
    assert torch.xpu.memory_reserved() < 64 * MB


@pytest.mark.values
def test_deleting_a_pool_frees_its_unused_memory():
    torch.xpu.empty_cache()
    before, pool = torch.xpu.memory_reserved(), torch.xpu.MemPool()
    with torch.xpu.use_mem_pool(pool):
        x = torch.empty(30 * MB, dtype=torch.uint8, device="xpu")
        y = torch.empty(40 * MB, dtype=torch.uint8, device="xpu")
    del x
    assert torch.xpu.memory_reserved() >= before + 70 * MB
    del pool
    gc.collect()
    assert before + 40 * MB <= torch.xpu.memory_reserved() < before + 70 * MB
    assert y.fill_(3)[-1].item() == 3


def test_snapshot_lists_the_block():
    tensor = torch.empty(5 * MB, dtype=torch.uint8, device="xpu")
    blocks = [
        block["address"]
        for segment in torch.xpu.memory_snapshot()
        for block in segment["blocks"]
        if block["state"] == "active_allocated"
    ]
    assert tensor.data_ptr() in blocks


def test_work_continues_after_out_of_memory():
    child = run_child(
        """
import torch
_, total = torch.xpu.mem_get_info()
torch.xpu.set_per_process_memory_fraction(64 * 2**20 / total)
assert abs(torch.xpu.get_per_process_memory_fraction() * total - 64 * 2**20) < 2
blocks = []
try:
    for _ in range(1000):
        blocks.append(torch.empty(2**20, dtype=torch.uint8, device="xpu"))
except torch.OutOfMemoryError as error:
    assert "torch" in str(error), error
    # Libraries that retry with a smaller batch recognize the error by this text, type and single argument.
    assert str(error).startswith("XPU out of memory. Tried to allocate 1.00 MiB."), error
    assert isinstance(error, RuntimeError) and len(error.args) == 1
    assert len(blocks) > 20
else:
    raise SystemExit("no error")
blocks.clear()
torch.ones(2**20, device="xpu")
torch.xpu.set_per_process_memory_fraction(1.0)
torch.empty(128 * 2**20, dtype=torch.uint8, device="xpu")
"""
    )
    child.check()


def test_training_continues_after_out_of_memory_in_a_backward_pass():
    child = run_child(
        """
import torch
_, total = torch.xpu.mem_get_info()
torch.xpu.set_per_process_memory_fraction(200 * 2**20 / total)
net = torch.nn.Sequential(*[torch.nn.Linear(256, 256) for _ in range(3)]).to("xpu")
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)

class Greedy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()
    @staticmethod
    def backward(ctx, grad):
        torch.empty(2**30, dtype=torch.uint8, device="xpu")
        return grad

def step(last=lambda x: x):
    optimizer.zero_grad()
    loss = last(net(torch.ones(64, 256, device="xpu"))).square().mean()
    loss.backward()
    optimizer.step()
    return loss.detach()

losses = [step()]
held = torch.xpu.memory_allocated()
for _ in range(3):
    try:
        step(Greedy.apply)
    except torch.OutOfMemoryError as error:
        assert "1.00 GiB" in str(error), error
    else:
        raise SystemExit("no error")
    losses.append(step())
assert torch.xpu.memory_stats()["num_ooms"] == 3
assert torch.xpu.memory_allocated() <= held + 4096
print([loss.item() for loss in losses])
"""
    )
    child.check()


def test_memory_does_not_grow_over_steps_of_varied_shapes():
    child = run_child(
        """
import random, torch
random.seed(3)
net = torch.nn.Sequential(
    torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(4), torch.nn.Flatten(),
    torch.nn.Linear(128, 10)).to("xpu")
optimizer = torch.optim.SGD(net.parameters(), lr=0.001)
sizes = [(random.randint(1, 16), random.randint(8, 40)) for _ in range(20)]

def step(batch, side):
    optimizer.zero_grad()
    net(torch.zeros(batch, 3, side, side, device="xpu")).sum().backward()
    optimizer.step()

for size in sizes:
    step(*size)
torch.xpu.synchronize()
allocated, reserved = torch.xpu.memory_allocated(), torch.xpu.memory_reserved()
for i in range(1000):
    step(*random.choice(sizes))
torch.xpu.synchronize()
assert torch.xpu.memory_allocated() <= allocated, (allocated, torch.xpu.memory_allocated())
assert torch.xpu.memory_reserved() <= reserved + 20 * 2**20, (reserved, torch.xpu.memory_reserved())
print(allocated, reserved, torch.xpu.memory_reserved())
"""
    )
    child.check()


def test_pinned():
    host = torch.arange(1000.0).pin_memory()
    assert host.is_pinned()
    assert not torch.arange(3).is_pinned()
    device = host.to("xpu", non_blocking=True)
    back = torch.empty(1000, pin_memory=True)
    back.copy_(device, non_blocking=True)
    torch.xpu.synchronize()
    assert_close(back.numpy(), host.numpy())


def test_dataloader_pins():
    data = torch.utils.data.TensorDataset(torch.arange(10.0))
    loader = torch.utils.data.DataLoader(data, batch_size=5, pin_memory=True)
    for (batch,) in loader:
        assert batch.is_pinned()
        assert_close(batch.to("xpu", non_blocking=True).cpu().numpy(), batch.numpy())


def test_device_memory_is_not_pinned():
    with pytest.raises(RuntimeError, match="pinned"):
        torch.empty(3, device="xpu", pin_memory=True)
