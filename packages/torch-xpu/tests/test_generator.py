"""Random state: one generator for every framework of the process."""

import pytest
import torch
import xpu_runtime


def test_seed_is_shared_with_the_runtime():
    torch.xpu.manual_seed(17)
    assert torch.xpu.initial_seed() == 17
    assert xpu_runtime.default_generator(0).seed == 17


def test_state_round_trip():
    generator = torch.Generator("xpu")
    generator.manual_seed(5)
    generator.set_offset(8)
    state = generator.get_state()
    other = torch.Generator("xpu").set_state(state)
    assert other.initial_seed() == 5
    assert other.get_offset() == 8


def test_manual_seed_reaches_the_device():
    torch.manual_seed(99)
    assert torch.xpu.initial_seed() == 99


def test_rng_state_of_the_device():
    state = torch.xpu.get_rng_state()
    torch.xpu.manual_seed(1)
    torch.xpu.set_rng_state(state)
    assert torch.equal(torch.xpu.get_rng_state(), state)


def test_fork_rng():
    torch.xpu.manual_seed(4)
    with torch.random.fork_rng(devices=[0], device_type="xpu"):
        torch.xpu.manual_seed(5)
    assert torch.xpu.initial_seed() == 4


def test_bad_states():
    generator = torch.Generator("xpu")
    with pytest.raises(RuntimeError, match="16 bytes"):
        generator.set_state(torch.zeros(3, dtype=torch.uint8))
    with pytest.raises(RuntimeError, match="multiple of 4"):
        generator.set_offset(3)
