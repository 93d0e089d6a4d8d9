"""The operators << and >> beside the CPU."""

import operator

import pytest
import torch

SHIFTS = [operator.lshift, operator.rshift, operator.ilshift, operator.irshift]


@pytest.mark.values
@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int32, torch.int64], ids=str)
@pytest.mark.parametrize("shift", SHIFTS, ids=lambda f: f.__name__)
def test_shifts(shift, dtype):
    numbers, by = torch.tensor([0, 1, 3, 100]).to(dtype), torch.tensor([0, 3, 2, 1]).to(dtype)
    for amount in (by, 1, 5):
        expected = shift(numbers.clone(), amount)
        amount = amount.to("xpu") if isinstance(amount, torch.Tensor) else amount
        assert torch.equal(shift(numbers.to("xpu"), amount).cpu(), expected)


def test_floats_are_refused():
    with pytest.raises(NotImplementedError, match="not implemented for"):
        torch.ones(2, device="xpu") << 1
