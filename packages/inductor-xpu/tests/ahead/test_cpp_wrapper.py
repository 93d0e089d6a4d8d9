"""Graphs whose calls are C++: config.cpp_wrapper gives what the wrapper in Python gives."""

import pytest
import torch
from torch._inductor import config
from torch._inductor.utils import run_and_get_code

pytestmark = [pytest.mark.values, pytest.mark.usefixtures("forget_compiled_code")]


@pytest.fixture(autouse=True)
def in_cpp():
    with config.patch(cpp_wrapper=True):
        yield


def _check(function, *inputs, **options):
    compiled = torch.compile(function, **options)
    expected = function(*(x.clone() for x in inputs))
    got, codes = run_and_get_code(compiled, *(x.clone() for x in inputs))
    assert "inductor_entry_impl" in codes[0]
    torch.testing.assert_close(got, expected)
    return compiled


def _everything(x, weight, factor, words):
    hidden = torch.nn.functional.gelu(x @ weight)  # a product with what follows it
    scores = (hidden * factor.sin()).softmax(-1)
    looked_up = x[words]  # checked
    largest = scores.max(-1)
    return scores, looked_up, largest.values, largest.indices, hidden.cumsum(0), x.sort(-1).values


def _inputs(rows):
    x = torch.randn(rows, 48, device="xpu")
    words = torch.arange(rows, device="xpu").flip(0)
    # A number of the host is an argument of kernels.
    return x, torch.randn(48, 32, device="xpu"), torch.tensor(0.7), words


def test_kernels_and_operators_of_a_graph():
    _check(_everything, *_inputs(40))


def test_one_graph_serves_all_sizes():
    compiled = _check(_everything, *_inputs(40), dynamic=True)
    with torch._dynamo.config.patch(error_on_recompile=True):
        for rows in (3, 41, 1000):
            inputs = _inputs(rows)
            torch.testing.assert_close(compiled(*inputs), _everything(*inputs))


def test_an_index_out_of_range_is_named():
    compiled = torch.compile(lambda x, words: x[words] + 1)
    x, _, _, words = _inputs(40)
    torch.testing.assert_close(compiled(x, words), x[words] + 1)
    with pytest.raises(RuntimeError, match="index 40 is out of range for a dimension of 40"):
        compiled(x, words + 1).cpu()


def test_gradients_and_changed_inputs():
    def step(x, weight):
        x.mul_(2)
        return torch.nn.functional.silu(x @ weight).square().mean()

    weights = [torch.randn(48, 32, device="xpu", requires_grad=True) for _ in range(2)]
    weights[1].data.copy_(weights[0])
    xs = [torch.ones(5, 48, device="xpu") for _ in range(2)]
    losses = [f(x, w) for f, x, w in zip((step, torch.compile(step)), xs, weights, strict=True)]
    for loss in losses:
        loss.backward()
    torch.testing.assert_close(losses[1], losses[0])
    torch.testing.assert_close(xs[1], xs[0])
    torch.testing.assert_close(weights[1].grad, weights[0].grad)


def test_assertions_of_values_and_nan():
    with config.patch(nan_asserts=True):
        compiled = torch.compile(lambda x: (x.log() + 1).relu())
        x = torch.rand(8, device="xpu") + 1
        torch.testing.assert_close(compiled(x), (x.log() + 1).relu())
        with pytest.raises(RuntimeError, match=r"NaN|inf|finite"):
            compiled(-x)


def _negative(x):
    count = x.shape[0]
    return x * (count - 100) + (3 - count) // 2


def test_unusual_shapes_and_numbers():
    _check(lambda x: (x.sin() + 1).sum((0, 12)), torch.randn(2, *[1, 2] * 5, 1, 3, device="xpu"))
    _check(lambda x: (x + 1).sin(), torch.empty(0, 5, device="xpu"))
    whole = torch.randn(40, 60, device="xpu")
    torch.testing.assert_close(
        torch.compile(lambda x: x.cos().sum(-1))(whole[::2, ::3]), whole[::2, ::3].cos().sum(-1)
    )
    _check(_negative, torch.randn(7, device="xpu"), dynamic=True)
    _check(lambda x: x * 2**33 + x.shape[0] * 2**31, torch.arange(9, device="xpu"), dynamic=True)
