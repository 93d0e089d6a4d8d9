"""Indices out of range and assertions in compiled code: eager's errors, and no memory touched."""

import pytest
import torch
from torch._inductor.utils import run_and_get_code

pytestmark = [
    pytest.mark.values,
    pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning"),
]


def finish(compiled, *inputs):
    compiled(*inputs)
    torch.xpu.synchronize()


def rows(x, i):
    return x[i] * 2


def added(x, i):
    return x.index_add(0, i, torch.ones(i.shape[0], x.shape[1], device=x.device))


def embedding(x, i):
    return torch.nn.functional.embedding(i, x) + 1


def gathered(x, i):
    return torch.gather(x, 0, i[:, None]) + 1


def placed(x, i):
    return x.clone().index_put((i,), torch.zeros(x.shape[1], device=x.device))


CASES = [
    (rows, 9),
    (rows, -9),
    (rows, 2**40),
    (added, 8),
    (embedding, 8),
    (embedding, -1),
    (gathered, 9),
    (placed, 100),
    (placed, -9),
]


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize(("function", "index"), CASES)
def test_an_index_out_of_range(function, index, dynamic):
    torch._dynamo.reset()
    x = torch.randn(8, 5, device="xpu")
    good = torch.tensor([0, 3, 7, 1], device="xpu")
    compiled = torch.compile(function, dynamic=dynamic)
    torch.testing.assert_close(compiled(x, good), function(x, good))
    with pytest.raises(Exception, match=rf"{index} is out of range") as error:
        finish(compiled, x, torch.tensor([0, index, 7, 1], device="xpu"))
    assert "8" in str(error.value)
    # The device goes on.
    torch.testing.assert_close(compiled(x, good), function(x, good))


def test_an_index_that_loops_give():
    """Inductor knows it without reading a value; it reaches beyond the array all the same."""
    torch._dynamo.reset()
    x = torch.randn(1000, device="xpu")

    def function(x, n):
        return x[torch.arange(n, device=x.device) * 3] + 1

    compiled = torch.compile(function, dynamic=True)
    torch.testing.assert_close(compiled(x, 300), function(x, 300))
    with pytest.raises(Exception, match="is out of range"):
        finish(compiled, x, 500_000_000)


def test_an_assertion():
    torch._dynamo.reset()

    def function(x):
        torch._assert_async((x > 0).all(), "x is positive")
        return x + 1

    compiled = torch.compile(function)
    compiled(torch.ones(5, device="xpu"))
    torch.xpu.synchronize()
    with pytest.raises(Exception, match="x is positive"):
        finish(compiled, -torch.ones(5, device="xpu"))


def test_masked_elements_divide_by_nothing_and_read_nothing():
    torch._dynamo.reset()

    def function(x, n, d):
        padded = torch.nn.functional.pad(n // d, (3, 4), value=7)
        return padded + torch.nn.functional.pad(x, (3, 4)).to(torch.int64)

    n, d = torch.arange(10, 30), torch.arange(1, 21)
    x = torch.arange(20).float()
    got = torch.compile(function)(x.xpu(), n.xpu(), d.xpu())
    torch.testing.assert_close(got.cpu(), function(x, n, d))


def test_positions_of_loops_are_not_checked():
    def embed(table, x):
        return table[torch.arange(x.shape[0], device=x.device)] + x

    table, x = torch.randn(9, 4, device="xpu"), torch.randn(7, 4, device="xpu")
    got, (code,) = run_and_get_code(torch.compile(embed), table, x)
    torch.testing.assert_close(got, embed(table, x))
    assert "fault(" not in code
    _, (code,) = run_and_get_code(torch.compile(embed), table[:6], x[:5])
    assert "fault(" not in code
    torch._dynamo.reset()
    with pytest.raises(RuntimeError, match="index 6 is out of range for a dimension of 6"):
        torch.compile(embed)(table[:6], x).cpu()
