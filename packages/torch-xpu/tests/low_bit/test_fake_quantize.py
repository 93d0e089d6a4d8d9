"""Quantisation imitated for training: values, masks and gradients beside the CPU."""

import pytest
import torch


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


def numbers(*shape, dtype=torch.float32):
    """With values beyond the range, halves between two numbers, and what is not a number."""
    x = torch.randn(shape) * 4
    x.view(-1)[:5] = torch.tensor([0.05, 0.15, -0.25, torch.inf, torch.nan])
    return x.to(dtype)


def check(function, *tensors, **tolerances):
    got = function(*(t.to("xpu") for t in tensors))
    expected = function(*tensors)
    torch.testing.assert_close([t.cpu() for t in got], list(expected), equal_nan=True, **tolerances)


def gradients(function, *tensors):
    leaves = [t.clone().requires_grad_(t.is_floating_point()) for t in tensors]
    out = function(*leaves)
    out.backward(torch.linspace(-1, 1, out.numel()).reshape(out.shape).to(out))
    return [out, *(t.grad for t in leaves if t.grad is not None)]


@pytest.mark.values
@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16], ids=str
)
def test_one_scale(dtype):
    x = numbers(7, 33, dtype=dtype)
    op = torch.ops.aten.fake_quantize_per_tensor_affine_cachemask
    check(lambda x: op(x, 0.125, 3, -8, 7), x)
    check(lambda x: op(x.t(), 0.125, 0, 0, 255), x)
    scale, zero = torch.tensor([0.125]), torch.tensor([3], dtype=torch.int32)
    op = torch.ops.aten._fake_quantize_per_tensor_affine_cachemask_tensor_qparams
    for enabled in torch.tensor([[0], [1]]):
        check(lambda *t: op(*t, -8, 7), x, scale, zero, enabled)


@pytest.mark.values
@pytest.mark.parametrize("kind", [torch.int32, torch.float32, torch.float16], ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_a_scale_for_each_channel(dtype, kind):
    x = numbers(5, 7, 9, dtype=dtype).nan_to_num(torch.nan, 99)  # the CPU makes infinity the least
    scale, zero = torch.rand(7) / 2 + 0.1, torch.randint(-8, 8, (7,)).to(kind)
    if kind.is_floating_point:
        zero += 0.25
    op = torch.ops.aten.fake_quantize_per_channel_affine_cachemask
    check(lambda *t: op(*t, 1, -8, 7), x, scale, zero)


@pytest.mark.values
def test_gradients():
    x = torch.randn(6, 8) * 4
    one, zero = torch.tensor([0.25]), torch.tensor([2], dtype=torch.int32)
    scale, zeros = torch.rand(8) / 2 + 0.1, torch.randint(-8, 8, (8,), dtype=torch.int32)
    check(
        lambda x: gradients(lambda x: torch.fake_quantize_per_tensor_affine(x, 0.2, 1, -8, 7), x), x
    )
    for t in ((x, one, zero), (x, scale, zeros)):
        many = t[1].numel() > 1
        function = (
            (lambda x, s, z: torch.fake_quantize_per_channel_affine(x, s, z, 1, -8, 7))
            if many
            else (lambda x, s, z: torch.fake_quantize_per_tensor_affine(x, s, z, -8, 7))
        )
        check(lambda x, s, z, f=function: gradients(lambda x: f(x, s, z), x), *t)


@pytest.mark.values
def test_learned_scales():
    x = torch.randn(6, 8) * 4
    scale, zero = torch.rand(8) / 2 + 0.1, torch.rand(8) * 4
    check(
        lambda *t: gradients(
            lambda *t: torch._fake_quantize_learnable_per_channel_affine(*t, 1, -8, 7, 0.5), *t
        ),
        x, scale, zero,
    )  # fmt: skip
    check(
        lambda *t: gradients(
            lambda *t: torch._fake_quantize_learnable_per_tensor_affine(*t, -8, 7, 0.5), *t
        ),
        x, scale[:1], zero[:1],
    )  # fmt: skip


@pytest.mark.values
@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("rows", [False, True])
def test_observing(rows, symmetric):
    def run(device):
        torch.manual_seed(0)
        size = 0 if rows else 1
        least = torch.full((size,), torch.inf, device=device)
        state = [least, -least, torch.ones(size, device=device)]
        state.append(torch.zeros(size, dtype=torch.int32, device=device))
        on = torch.ones(1, dtype=torch.long, device=device)
        seen = []
        for _ in range(3):
            x = (torch.randn(4, 6, 5) + 1).to(device).requires_grad_()
            y = torch.fused_moving_avg_obs_fake_quant(
                x, on, on, *state, 0.1, -128, 127, 0, rows, symmetric
            )
            y.sum().backward()
            seen += [t.detach().cpu().clone() for t in (y, x.grad, *state)]
        return seen

    torch.testing.assert_close(run("xpu"), run("cpu"))


def test_refusals():
    x = torch.ones(2, 3, device="xpu")
    with pytest.raises(RuntimeError, match="quant_min"):
        torch.fake_quantize_per_tensor_affine(x, 0.1, 0, 7, -8)
    with pytest.raises(RuntimeError, match="zero_point"):
        torch.fake_quantize_per_tensor_affine(x, 0.1, 9, -8, 7)
    with pytest.raises(NotImplementedError, match="Int"):
        torch.fake_quantize_per_tensor_affine(x.int(), 0.1, 0, -8, 7)
    zero = torch.zeros(3, dtype=torch.int32, device="xpu")
    with pytest.raises(RuntimeError, match="not consistent"):
        torch.fake_quantize_per_channel_affine(x, torch.ones(3, device="xpu"), zero, 0, -8, 7)
    with pytest.raises(RuntimeError, match="Zero-point must be"):
        torch.fake_quantize_per_channel_affine(
            x, torch.ones(3, device="xpu"), zero.long(), 1, -8, 7
        )
