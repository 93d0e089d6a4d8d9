"""Compiled programs give what eager ones give, with fixed and with dynamic shapes, and their gradients."""

import pytest
import torch
from programs import PROGRAMS

# What Inductor imports warns about itself.
pytestmark = [
    pytest.mark.usefixtures("forget_compiled_code"),
    pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning"),
]


def as_tuple(results):
    return results if isinstance(results, tuple) else (results,)


def check(got, expected):
    for one, other in zip(as_tuple(got), as_tuple(expected), strict=True):
        tolerance = 2e-2 if other.dtype == torch.bfloat16 else 2e-5
        torch.testing.assert_close(one.cpu(), other, rtol=tolerance, atol=tolerance)


def inputs_of(name, rows):
    torch.manual_seed(0)
    cpu = PROGRAMS[name][1](rows)
    return cpu, tuple(tensor.to("xpu") for tensor in cpu)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program(name):
    function = PROGRAMS[name][0]
    cpu, xpu = inputs_of(name, 50)
    check(torch.compile(function, dynamic=False)(*xpu), function(*cpu))


@pytest.mark.parametrize("name", PROGRAMS)
def test_one_dynamic_program_for_many_shapes(name):
    function = PROGRAMS[name][0]
    compiled = torch.compile(function, dynamic=True)
    for rows in (50, 7, 16, 130):
        cpu, xpu = inputs_of(name, rows)
        check(compiled(*xpu), function(*cpu))


# Integers have none, and comparisons of positions none either.
NOT_DIFFERENTIABLE = (
    *("integers", "bytes", "bytes added to rows", "any", "mixed types"),
    *("position of the largest",),
)
DIFFERENTIABLE = [name for name in PROGRAMS if name not in NOT_DIFFERENTIABLE]


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_gradients(name):
    function = PROGRAMS[name][0]
    cpu, xpu = inputs_of(name, 50)

    def gradients(function, inputs):
        leaves = [t.requires_grad_() for t in inputs if t.is_floating_point()]
        sum(out.float().square().sum() for out in as_tuple(function(*inputs))).backward()
        return tuple(leaf.grad for leaf in leaves)

    expected = gradients(function, cpu)
    for one, other in zip(gradients(torch.compile(function), xpu), expected, strict=True):
        scale = other.abs().max().item() + 1
        tolerance = 2e-2 if other.dtype == torch.bfloat16 else 2e-5
        torch.testing.assert_close(one.cpu() / scale, other / scale, rtol=tolerance, atol=tolerance)


@pytest.mark.values
def test_gradient_of_a_maximum_of_16_bits():
    """The maximum that is stored is found among values that the backward computes again."""

    def largest(x, w):
        return torch.relu(torch.nn.functional.layer_norm(x, (64,), w)).amax(1)

    torch.manual_seed(0)
    x = torch.randn(4, 32, 64, dtype=torch.bfloat16, device="xpu", requires_grad=True)
    w = torch.ones(64, dtype=torch.bfloat16, device="xpu", requires_grad=True)
    for function in (largest, torch.compile(largest)):
        w.grad = None
        function(x, w).float().sum().backward()
        # With a factor of one each, the gradient is the sum of the 4 maxima of a column.
        expected = largest(x, w).float().sum(0)
        torch.testing.assert_close(w.grad.float(), expected, rtol=2e-2, atol=2e-2)
