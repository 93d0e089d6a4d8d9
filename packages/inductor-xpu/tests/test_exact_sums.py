"""Compiled sums of many numbers round about as seldom as the CPU's, which adds pairs."""

import pytest
import torch

# What Inductor imports warns about itself.
pytestmark = [
    pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning"),
    pytest.mark.usefixtures("forget_compiled_code"),
    pytest.mark.values,
]

KINDS = {
    "tenths": lambda shape: torch.full(shape, 0.1),
    "lognormal": lambda shape: torch.empty(shape).log_normal_(0, 3),
    "ramp": lambda shape: (
        torch.linspace(1, 2, shape[0]).reshape(-1, *[1] * (len(shape) - 1)).expand(shape)
    ),
}
# Rows, columns, and rows of several dimensions, of which the inner one is short or long.
REDUCED = [
    ((1 << 20,), 0),
    ((4, 1 << 17), 1),
    ((1 << 16, 20), 0),
    ((8, 700, 33), (1, 2)),
    ((8, 40, 900), (0, 2)),
]


def largest_error(function, x, dims):
    """Return the largest error, in steps of the sum of absolute values."""
    wide = x.double()
    error = (function(x.to("xpu")).cpu().double() - function(wide)).abs()
    return (error / (wide * 2).abs().sum(dims)).max().item() * 2**24


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("shape", "dims"), REDUCED)
@pytest.mark.parametrize("dynamic", [False, True])
def test_sums(kind, shape, dims, dynamic):
    torch.manual_seed(0)

    def function(x):
        return (x * 2).sum(dims)

    x = KINDS[kind](shape)
    compiled = torch.compile(function, dynamic=dynamic)
    assert (
        largest_error(lambda x: compiled(x) if x.device.type == "xpu" else function(x), x, dims)
        < 12
    )


def test_a_sum_beside_an_extreme():
    """Folds of one loop: those in blocks, and one that is not."""
    x = torch.rand(6, 50_000)

    @torch.compile
    def both(x):
        return (x * 0.1).sum(1), (x * 0.1).amax(1), x.prod(1)

    total, top, product = both(x.to("xpu"))
    torch.testing.assert_close(total.cpu().double(), (x * 0.1).double().sum(1), rtol=3e-7, atol=0)
    assert torch.equal(top.cpu(), (x * 0.1).amax(1))
    assert torch.equal(product.cpu(), torch.zeros(6))


def test_sums_in_a_captured_graph():
    def function(x):
        return x.sum(1) * 2

    call = torch.compile(function, mode="reduce-overhead")
    x = torch.empty(3, 1 << 17).log_normal_(0, 3)
    for scale in (1, 2, 0.5, 3):
        error = largest_error(lambda x: (call if x.is_xpu else function)(x), x * scale, 1)
        assert error < 12
