"""Operators at the edges of their domain: NaN, mixed dtypes, numbers whose sums round."""

import pytest
import torch
import torch.nn.functional as F

pytestmark = pytest.mark.values


def on_both(function, *tensors, **tolerance):
    got, expected = function(*(t.to("xpu") for t in tensors)), function(*tensors)
    assert got.dtype == expected.dtype
    torch.testing.assert_close(got.cpu(), expected, equal_nan=True, **tolerance)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int32], ids=str)
def test_heaviside(dtype):
    numbers = [float("nan"), 0.0, -0.0, 2.0, -2.0] if dtype.is_floating_point else [0, 3, -3]
    x = torch.tensor(numbers, dtype=dtype)
    on_both(torch.heaviside, x, torch.full_like(x, 5))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64], ids=str)
def test_ldexp(dtype):
    x = torch.tensor([1.5, -0.0, 1e-38, float("inf"), 3.0], dtype=dtype)
    for exponent in (torch.uint8, torch.int8, torch.int64):
        on_both(torch.ldexp, x, torch.tensor(3, dtype=exponent))
        on_both(torch.ldexp, x, torch.tensor([1, 2, 100, 4, 0], dtype=exponent))
    on_both(torch.ldexp, x, torch.tensor([200, -3, 127, 1, -2]))
    on_both(lambda a, b: a.clone().ldexp_(b), x, torch.tensor(2, dtype=torch.uint8))
    on_both(lambda a, b: torch.ldexp(a, b, out=torch.empty_like(a)), x, torch.arange(5))
    on_both(torch.ldexp, x, torch.tensor([0.5, 1, 2, 3, 4]))
    on_both(torch.ldexp, torch.arange(3), torch.arange(3))


def test_ldexp_has_a_derivative():
    x = torch.tensor([1.0, 3.0])
    on_both(
        lambda a: torch.autograd.grad(
            torch.ldexp(a.requires_grad_(), torch.tensor([2, 5], device=a.device)).sum(), a
        )[0],
        x,
    )


def test_equal_of_other_dtypes():
    one, half = torch.ones(3, device="xpu"), torch.ones(3, device="xpu", dtype=torch.float16)
    assert torch.equal(one, half)
    assert not torch.equal(one * 1.0001, half)
    with torch.autocast("xpu", torch.bfloat16):
        assert torch.equal(one, half)


@pytest.mark.parametrize("length", [3, 5, 7, 333, 20_000])
@pytest.mark.parametrize("value", [1e15, 0.1, -7e8])
def test_layer_norm_of_equal_numbers(value, length):
    x = torch.full((2, length), value, device="xpu")
    assert F.layer_norm(x, (length,)).abs().max().item() == 0


def test_layer_norm_of_numbers_far_from_zero():
    host = 1e6 + torch.randn(4, 1000, dtype=torch.float64).float()
    got = F.layer_norm(host.to("xpu"), (1000,)).cpu()
    torch.testing.assert_close(
        got.double(), F.layer_norm(host.double(), (1000,)), rtol=0, atol=2e-4
    )


def test_mode_of_nothing():
    on_both(lambda x: x.mode(1, keepdim=True)[0], torch.empty(0, 3, 5))
    on_both(lambda x: x.mode(1)[0], torch.empty(0, 3, 5))


def test_batch_norm_of_nothing():
    for channels in (0, 2):
        x = torch.empty(3, channels, 0, device="xpu")
        of_channels = [torch.ones(channels, device="xpu")] * 4
        with pytest.raises(RuntimeError, match="at least one element"):
            torch.native_batch_norm(x, *of_channels, True, 0.1, 1e-5)
        assert torch.native_batch_norm(x, *of_channels, False, 0.1, 1e-5)[0].shape == x.shape


def test_triangles_that_are_negative_views():
    a, b = torch.tensor([[2.0, 0.0], [1.0, 3.0]]), torch.tensor([[1.0], [5.0]])

    def solved(a, b):
        negative = torch._neg_view
        solve = torch.linalg.solve_triangular
        return torch.cat(
            [
                solve(negative(a), b, upper=False),
                solve(negative(a), negative(b), upper=False),
                solve(negative(a).mT, negative(b).mT, upper=True, left=False).mT,
            ]
        )

    on_both(solved, a, b)


@pytest.mark.parametrize("shape", [(2, 6, 3), (2, 6, 3, 4), (0, 6, 3), (1, 6, 0, 2)], ids=str)
@pytest.mark.parametrize("groups", [1, 2, 3, 6])
def test_channel_shuffle(shape, groups):
    x = torch.arange(torch.Size(shape).numel()).float().view(shape)
    on_both(lambda t: F.channel_shuffle(t, groups), x)
    on_both(lambda t: F.channel_shuffle(t.transpose(0, 1), groups), x.transpose(0, 1))
    if len(shape) == 4:
        on_both(
            lambda t: F.channel_shuffle(t, groups), x.contiguous(memory_format=torch.channels_last)
        )


def test_channel_shuffle_refuses():
    for shape, groups in [((2, 6, 3), 4), ((2, 6), 2), ((2, 6, 3), 0)]:
        with pytest.raises(RuntimeError, match=r"channel_shuffle|[Nn]umber of (groups|channels)"):
            F.channel_shuffle(torch.zeros(shape, device="xpu"), groups)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16], ids=str)
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_gated_units_have_a_gradient(dtype, dim):
    def gradient(x, direction):
        x = x.detach().requires_grad_()
        return torch.autograd.grad(F.glu(x, dim), x, direction)[0]

    x = torch.linspace(-9, 9, 4 * 6 * 8).view(4, 6, 8).to(dtype)
    direction = torch.linspace(-2, 2, x.numel() // 2).to(dtype)
    direction = direction.view([n // 2 if d == dim % 3 else n for d, n in enumerate(x.shape)])
    rounding = {"rtol": 1e-2, "atol": 1e-2} if dtype == torch.float16 else {}
    on_both(gradient, x, direction, **rounding)
    on_both(gradient, x.transpose(1, 2).contiguous().transpose(1, 2), direction, **rounding)
    on_both(gradient, x, direction[:1, :1, :1].expand(direction.shape), **rounding)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
@pytest.mark.parametrize("loss", [F.multilabel_margin_loss, F.multi_margin_loss])
def test_margin_losses_of_nothing(loss, dtype):
    """The CPU leaves what it gives as it found it; these are the sum and the mean of no numbers."""
    x = torch.zeros(0, 4, dtype=dtype, device="xpu")
    target = torch.zeros((0, 4) if loss is F.multilabel_margin_loss else 0, device="xpu").long()
    assert loss(x, target, reduction="none").shape == (0,)
    assert loss(x, target, reduction="sum").item() == 0
    assert loss(x, target).isnan().item()
    x.requires_grad_()
    assert torch.autograd.grad(loss(x, target), x)[0].shape == x.shape


def test_zeta_of_large_numbers():
    q = torch.tensor([3.5e37, 1e20, 9e18, 64.0])
    on_both(torch.special.zeta, torch.tensor([2.0, 1.5, 3.0, 20.0]), q)
    on_both(torch.special.zeta, torch.tensor([2.0, 2.5, 2.9, 4.0]), q.flip(0))
