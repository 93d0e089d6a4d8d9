"""argmax and argmin count positions in the order of the tensor, whatever the order of its memory."""

import math

import pytest
import torch

# What Inductor imports warns about itself.
pytestmark = [
    pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning"),
    pytest.mark.usefixtures("forget_compiled_code"),
    pytest.mark.values,
]

ORDERS = [(0, 2, 1), (1, 2, 0)]
FUNCTIONS = {
    "whole": lambda x: (x.argmax(), x.argmin()),
    "computed": lambda x: ((x * 2).argmax(), x.abs().argmin()),
    "sum of two orders": lambda x: (x + x.contiguous()).argmax(),
    "f16": lambda x: x.half().argmax(),
    "i32": lambda x: x.nan_to_num().int().argmax(),
    "a part": lambda x: x[1:, ::2].argmin(),
    "kept dimension": lambda x: x.argmax(1, keepdim=True),
}


def few_numbers(*shape):
    """Return numbers many of which are equal."""
    return torch.randint(-2, 3, shape).float()


def all_infinite(*shape):
    return torch.full(shape, -math.inf)


def some_nans(*shape):
    return few_numbers(*shape).masked_fill(torch.rand(shape) < 0.02, math.nan)


@pytest.mark.parametrize("order", ORDERS, ids=str)
@pytest.mark.parametrize("make", [few_numbers, all_infinite, some_nans])
@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_permuted_tensors(function, make, order):
    x = make(6, 7, 33).permute(order)
    got = torch.compile(function, dynamic=False)(x.to("xpu"))
    torch.testing.assert_close(got, function(x), rtol=0, atol=0, check_device=False)


@pytest.mark.parametrize("order", ORDERS, ids=str)
def test_any_sizes(order):
    function = torch.compile(FUNCTIONS["whole"], dynamic=True)
    for sizes in ((6, 7, 33), (65, 3, 40)):
        x = few_numbers(*sizes).permute(order)
        expected = FUNCTIONS["whole"](x)
        torch.testing.assert_close(
            function(x.to("xpu")), expected, rtol=0, atol=0, check_device=False
        )


REVERSED = tuple(range(12, -1, -1))
EDGES = {
    "one number": lambda x: (x.sum() * 2).argmax(),
    "expanded": lambda x: x[:1, :1].expand(3, 4).argmax(),
    "a part of a column": lambda x: x[::3, 5].argmin(),
    "overlapping windows": lambda x: x.unfold(0, 3, 2).argmax(),
    "joined": lambda x: torch.cat([x.t(), x.t()]).argmax(),
    "13 dimensions": lambda x: (x.reshape([2] * 13).permute(REVERSED) * 2).argmax(),
}


@pytest.mark.parametrize("function", EDGES.values(), ids=EDGES)
def test_views_of_every_kind(function):
    x = few_numbers(128, 64)
    got = torch.compile(function, dynamic=False)(x.to("xpu"))
    torch.testing.assert_close(got, function(x), rtol=0, atol=0, check_device=False)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int32, torch.bool])
@pytest.mark.parametrize("find", [torch.max, torch.min])
def test_values_and_positions_of_one_call_are_used(find, dtype):
    x = torch.randn(40, 30, device="xpu")
    if dtype.is_floating_point:
        x[3, 4] = torch.nan
    x = x > 0 if dtype == torch.bool else (10 * x).to(dtype)

    def both(x):
        return find(x, -1), find(x.logical_not() if dtype == torch.bool else x + x, 0)

    for got, expected in zip(torch.compile(both)(x), both(x), strict=True):
        for ours, theirs in zip(got, expected, strict=True):
            torch.testing.assert_close(ours, theirs, equal_nan=True)
