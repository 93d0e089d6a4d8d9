"""Softmax and its logarithm at the row lengths where their kernels change."""

import pytest
import torch
from xpu_testing import assert_close

aten = torch.ops.aten

# Around what local memory is to hold of a row, a vocabulary, and a row too long for any.
LENGTHS = [2048, 2049, 8192, 8193, 50257, 61440, 61441]
# Halves are rounded once, by two thousandths at most.
TOLERANCE = {torch.float32: 1e-5, torch.bfloat16: 5e-3}


def rows(length, dtype):
    """Rows whose first and last elements weigh: one of them left out changes all results."""
    x = torch.randn(5, length, generator=torch.Generator().manual_seed(length))
    x[:2, 0] = x[1:4, -1] = 9.0
    return x.to(dtype)


def both(function, x, weights):
    """The result and its derivative on xpu, and what the function is in f64."""
    own = x.to("xpu").requires_grad_()
    out = function(own, 1)
    (grad,) = torch.autograd.grad(out, own, weights.to("xpu"))
    assert out.dtype == grad.dtype == x.dtype
    return out.detach().cpu().double(), grad.cpu().double(), function(x.double(), 1)


# The derivatives' expectations are of the rounded results.
@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@pytest.mark.parametrize("length", LENGTHS)
def test_softmax(length, dtype):
    x, weights = rows(length, dtype), rows(length, dtype).flip(0, 1)
    out, grad, expected = both(torch.softmax, x, weights)
    bound = TOLERANCE[dtype]
    assert_close(out, expected, rtol=bound)
    derivative = aten._softmax_backward_data(weights.double(), out, 1, torch.float64)
    # Both are proportional to the result, which is small.
    assert_close(grad / out, derivative / out, rtol=bound, atol=bound)


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@pytest.mark.parametrize("length", LENGTHS)
def test_log_softmax(length, dtype):
    x, weights = rows(length, dtype), rows(length, dtype).flip(0, 1)
    out, grad, expected = both(torch.log_softmax, x, weights)
    bound = TOLERANCE[dtype]
    assert_close(out, expected, rtol=bound, atol=bound)
    derivative = aten._log_softmax_backward_data(weights.double(), out, 1, torch.float64)
    assert_close(grad, derivative, rtol=bound, atol=bound)
