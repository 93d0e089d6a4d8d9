"""Flex attention compiled to kernels: values and gradients against attention in f64 on the host."""

import flex_cases as cases
import pytest
import torch
from flex_cases import CASES

# What Inductor imports warns about itself.
pytestmark = [
    pytest.mark.usefixtures("forget_compiled_code"),
    pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning"),
]

TOLERANCE = {torch.float32: 2e-5, torch.bfloat16: 2e-2, torch.float16: 3e-3}


def operands(dtype, batches, heads, key_heads, queries, keys, d, e):
    sizes = ((heads, queries, d), (key_heads, keys, d), (key_heads, keys, e))
    return [torch.randn(batches, *size).to(dtype) for size in sizes]


def check(case, dtype, shape, block=128, dynamic=None):
    """Compare values; shape: batches, heads, key heads, queries, keys, sizes of a key and of a value."""
    host = operands(dtype, *shape)
    tensors = cases.make_tensors(shape[0], shape[1], shape[3], shape[4])
    expected = cases.reference(case, *(x.double() for x in host), cases.in_f64(tensors))
    q, k, v = (x.to("xpu") for x in host)
    tensors = cases.on_xpu(tensors)
    mask = cases.block_mask_of(case, tensors, q, k, block)
    compiled = torch.compile(cases.attend, fullgraph=True, dynamic=dynamic)
    results = compiled(case, q, k, v, tensors, mask)
    tolerance = TOLERANCE[dtype]
    assert results[0].dtype == dtype
    for got, wanted in zip(results, expected, strict=True):
        torch.testing.assert_close(
            got.cpu().double(), wanted, rtol=tolerance, atol=tolerance, check_stride=False
        )


@pytest.mark.values
@pytest.mark.parametrize("case", CASES)
def test_values(case):
    check(CASES[case], torch.float32, (2, 4, 4, 150, 150, 32, 32))


def check_gradients(case, dtype, shape, block=128, dynamic=None):
    """Compare gradients of operands and of captured tensors, for random gradients of both results."""
    host = operands(dtype, *shape)
    tensors = cases.make_tensors(shape[0], shape[1], shape[3], shape[4])
    captured = [name for name, tensor in tensors.items() if tensor.is_floating_point()]
    weights = torch.randn(*shape[:2], shape[3], shape[6]).to(dtype)
    of_logsumexp = torch.randn(*shape[:2], shape[3])

    def gradients(attend, operands, tensors, mask, weights, of_logsumexp):
        tensors = {
            name: tensor.clone().requires_grad_(name in captured)
            for name, tensor in tensors.items()
        }
        operands = [x.clone().requires_grad_() for x in operands]
        out, logsumexp, _ = attend(case, *operands, tensors, *mask)
        # Rows that see no key have none.
        seen = torch.where(logsumexp.detach() == -float("inf"), 0, logsumexp)
        loss = (out * weights).sum() + (seen * of_logsumexp).sum()
        inputs = [*operands, *(tensors[name] for name in captured)]
        return torch.autograd.grad(loss, inputs, allow_unused=True)

    expected = gradients(
        cases.reference,
        [x.double() for x in host],
        cases.in_f64(tensors),
        (),
        weights.double(),
        of_logsumexp.double(),
    )
    q, k, v = (x.to("xpu") for x in host)
    tensors = cases.on_xpu(tensors)
    mask = cases.block_mask_of(case, tensors, q, k, block)
    compiled = torch.compile(cases.attend, fullgraph=True, dynamic=dynamic)
    got = gradients(
        compiled, [q, k, v], tensors, (mask,), weights.to("xpu"), of_logsumexp.to("xpu")
    )
    for value, wanted in zip(got, expected, strict=True):
        assert (value is None) == (wanted is None)
        if value is not None:
            scale = max(1.0, wanted.abs().max().item())
            difference = (value.cpu().double() - wanted).abs().max().item()
            assert difference <= 2 * TOLERANCE[dtype] * scale


@pytest.mark.values
@pytest.mark.parametrize("case", CASES)
def test_gradients(case):
    check_gradients(CASES[case], torch.float32, (2, 4, 4, 150, 150, 32, 32))
