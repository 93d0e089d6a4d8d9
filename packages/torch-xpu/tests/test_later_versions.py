"""What PyTorch added to torch.xpu and torch.accelerator after 2.13."""

import pytest
import torch

VERSION = tuple(int(part) for part in torch.__version__.split(".")[:2])


@pytest.mark.values
def test_a_sleeping_device_delays_its_stream():
    """PyTorch 2.15 has it as torch.xpu._sleep."""
    torch._C._xpu_sleep(0)
    torch.xpu.synchronize()
    start, middle, end = (torch.xpu.Event(enable_timing=True) for _ in range(3))
    start.record()
    torch._C._xpu_sleep(1_000_000)
    middle.record()
    torch._C._xpu_sleep(40_000_000)
    end.record()
    end.synchronize()
    assert middle.elapsed_time(end) > 4 * start.elapsed_time(middle)
    assert middle.elapsed_time(end) > 1


def test_a_pool_may_leave_its_segments_whole():
    """PyTorch 2.15 has it as torch.xpu.MemPool(no_split=True)."""
    pool = torch._C._XPUMemPool(None, True, False, True)
    with torch.xpu.use_mem_pool(pool):
        large = torch.empty(40 << 20, dtype=torch.uint8, device="xpu")
        pointer = large.data_ptr()
        del large
        first, second = (torch.empty(2 << 20, dtype=torch.uint8, device="xpu") for _ in range(2))
        assert first.data_ptr() == pointer
        assert not pointer <= second.data_ptr() < pointer + (40 << 20)


@pytest.mark.skipif(VERSION < (2, 14), reason="torch.accelerator.random is of PyTorch 2.14")
def test_the_accelerators_random_numbers_are_those_of_xpu():
    torch.manual_seed(7)
    assert torch.accelerator.random.initial_seed() == torch.xpu.initial_seed() == 7
    assert torch.equal(torch.accelerator.random.get_rng_state(), torch.xpu.get_rng_state())
    assert len(torch.accelerator.random.get_rng_state_all()) == torch.xpu.device_count()
