"""Assertions that the device checks."""

import pytest
import torch


@pytest.mark.values
@pytest.mark.parametrize("dtype", [torch.bool, torch.float32, torch.int64], ids=str)
def test_what_does_not_hold_is_raised_at_the_next_wait(dtype):
    one, zero = torch.ones(1, dtype=dtype, device="xpu"), torch.zeros(1, dtype=dtype, device="xpu")
    torch._assert_async(one)
    torch._assert_async(one, "fine")
    torch.xpu.synchronize()
    torch._assert_async(zero, "the mask must not be empty")
    with pytest.raises(RuntimeError, match="the mask must not be empty"):
        torch.xpu.synchronize()
    torch._assert_async(zero)
    with pytest.raises(RuntimeError, match="_assert_async"):
        torch.xpu.synchronize()
    assert torch.xpu.is_available()
    assert (one + one).float().item() >= 1  # the device goes on


def test_several_values_are_refused():
    with pytest.raises(RuntimeError, match="one value"):
        torch._assert_async(torch.ones(2, device="xpu"))


NAN = float("nan")


@pytest.mark.values
@pytest.mark.parametrize("bad", [2.0, -0.1, NAN])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.float64], ids=str)
def test_probabilities_are_between_0_and_1(bad, dtype):
    good = torch.full((300,), 0.5, dtype=dtype, device="xpu")
    wrong = good.clone()
    wrong[77] = bad
    functional = torch.nn.functional
    for call, match in (
        (lambda: functional.binary_cross_entropy(wrong, good), "elements of input.*number 77"),
        (lambda: functional.binary_cross_entropy(good, wrong), "elements of target.*number 77"),
        (lambda: torch.bernoulli(wrong), "probabilities between 0 and 1"),
        (lambda: torch.zeros_like(good).bernoulli_(wrong), "probabilities between 0 and 1"),
    ):
        call()
        with pytest.raises(RuntimeError, match=match):
            torch.xpu.synchronize()
    functional.binary_cross_entropy(good, good)
    torch.bernoulli(good)
    torch.xpu.synchronize()
