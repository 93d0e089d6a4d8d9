"""Device memory and pinned host memory under PyTorch."""

import gc
from pathlib import Path

import pytest
import torch
import xpu_runtime
from xpu_testing import assert_close, run_child

PROGRAMS = Path(__file__).parent / "programs"

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
    run_child(PROGRAMS / "out_of_memory.py").check()


def test_training_continues_after_out_of_memory_in_a_backward_pass():
    run_child(PROGRAMS / "out_of_memory_in_backward.py").check()


def test_memory_does_not_grow_over_steps_of_varied_shapes():
    run_child(PROGRAMS / "varied_shapes.py").check()


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
