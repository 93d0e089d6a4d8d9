"""SyncBatchNorm between the exchanges of processes: parts of a batch give what the whole does."""

import pytest
import torch

EPSILON, MOMENTUM = 1e-4, 0.2


def batch(dtype=torch.float32, shape=(7, 3, 5)):
    return (torch.randn(shape, generator=torch.Generator().manual_seed(0)) * 2 + 3).to("xpu", dtype)


def parameters():
    return torch.linspace(0.5, 2, 3, device="xpu"), torch.linspace(-1, 1, 3, device="xpu")


def forward(parts, weight, bias, running):
    stats = [torch.batch_norm_stats(part, EPSILON) for part in parts]
    means, invstds = (torch.stack(column) for column in zip(*stats, strict=True))
    counts = torch.tensor([p.numel() // 3 for p in parts], dtype=torch.float32, device="xpu")
    mean, invstd = torch.batch_norm_gather_stats_with_counts(
        parts[0], means, invstds, *running, MOMENTUM, EPSILON, counts
    )
    outs = [torch.batch_norm_elemt(p, weight, bias, mean, invstd, EPSILON) for p in parts]
    return torch.cat(outs), mean, invstd, counts


@pytest.mark.values
@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16], ids=str
)
@pytest.mark.parametrize("affine", [False, True])
def test_parts_of_a_batch(dtype, affine):
    x, (weight, bias) = batch(dtype), parameters()
    kind = torch.float64 if dtype == torch.float64 else torch.float32
    weight, bias = (weight.to(kind), bias.to(kind)) if affine else (None, None)
    running = [torch.zeros(3, device="xpu", dtype=kind), torch.ones(3, device="xpu", dtype=kind)]
    expected_running = [t.clone() for t in running]
    parts = x.split([2, 4, 1])
    whole = x.to(kind).requires_grad_()
    expected = torch.nn.functional.batch_norm(
        whole, *expected_running, weight, bias, True, MOMENTUM, EPSILON
    )
    close = {"rtol": 2e-2, "atol": 2e-2} if dtype.itemsize == 2 else {}

    out, mean, invstd, counts = forward(parts, weight, bias, running)
    assert (out.dtype, mean.dtype, invstd.dtype) == (dtype, kind, kind)
    torch.testing.assert_close(out.to(kind), expected, **close)
    torch.testing.assert_close(running, expected_running)

    gradient = torch.randn(x.shape, generator=torch.Generator().manual_seed(1)).to("xpu", dtype)
    expected.backward(gradient.to(kind))
    sums = [
        torch.batch_norm_backward_reduce(g, p, mean, invstd, weight, True, affine, affine)
        for g, p in zip(gradient.split([2, 4, 1]), parts, strict=True)
    ]
    total, product = (sum(s[i] for s in sums) for i in (0, 1))
    grads = [
        torch.batch_norm_backward_elemt(g, p, mean, invstd, weight, total, product, counts.int())
        for g, p in zip(gradient.split([2, 4, 1]), parts, strict=True)
    ]
    torch.testing.assert_close(torch.cat(grads).to(kind), whole.grad, **close)


@pytest.mark.values
def test_gradients_of_parameters():
    x, (weight, bias) = batch(), parameters()
    weight.requires_grad_(), bias.requires_grad_()
    y = torch.nn.functional.batch_norm(x, None, None, weight, bias, True, 0, EPSILON)
    gradient = torch.randn_like(y)
    y.backward(gradient)
    mean, invstd = torch.batch_norm_stats(x, EPSILON)
    out = torch.batch_norm_backward_reduce(gradient, x, mean, invstd, weight, False, True, True)
    assert out[0] is None or not out[0].numel()
    torch.testing.assert_close(list(out[2:]), [weight.grad, bias.grad])


@pytest.mark.values
def test_counts_that_are_all_the_same():
    x = batch(shape=(6, 3, 4))
    stats = [torch.batch_norm_stats(part, EPSILON) for part in x.chunk(2)]
    means, invstds = (torch.stack(column) for column in zip(*stats, strict=True))
    running = [torch.zeros(3, device="xpu"), torch.ones(3, device="xpu")]
    mean, invstd = torch.batch_norm_gather_stats(x, means, invstds, *running, MOMENTUM, EPSILON, 12)
    expected = torch.batch_norm_stats(x, EPSILON)
    torch.testing.assert_close([mean, invstd], list(expected))
    torch.testing.assert_close(running[0], expected[0] * MOMENTUM)
    mean, variance = torch.batch_norm_update_stats(x, None, None, MOMENTUM)
    torch.testing.assert_close(variance, torch.var(x, (0, 2), correction=0))
    torch.testing.assert_close(mean, x.mean((0, 2)))
