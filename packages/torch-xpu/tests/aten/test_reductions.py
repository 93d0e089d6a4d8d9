"""Reductions with an `out` of another dtype, or with arguments of two dtypes, beside the CPU."""

import pytest
import torch


@pytest.mark.values
@pytest.mark.parametrize("name", ["nansum", "nanmean", "mean"])
@pytest.mark.parametrize("dims", [(), (1,)], ids=["all", "rows"])
def test_out_may_be_wider(name, dims):
    x = torch.tensor([[1.5, float("nan")], [2.0, 4.0]], dtype=torch.float16)
    expected, got = (torch.empty([2] * len(dims), device=device) for device in ("cpu", "xpu"))
    getattr(torch, name)(x, *dims, out=expected)
    getattr(torch, name)(x.to("xpu"), *dims, out=got)
    torch.testing.assert_close(got.cpu(), expected, equal_nan=True)


def test_out_of_another_dtype_than_asked_for():
    out = torch.empty((), dtype=torch.float16, device="xpu")
    with pytest.raises(RuntimeError, match="Expected out tensor to have dtype"):
        torch.nansum(torch.ones(2, device="xpu"), dtype=torch.float32, out=out)


@pytest.mark.values
@pytest.mark.parametrize(
    ("a", "b"),
    [
        (torch.tensor([1, 2]), torch.tensor([1, 2], dtype=torch.int8)),
        (torch.tensor([300]), torch.tensor([44], dtype=torch.uint8)),
        (torch.tensor([2**24 + 1]), torch.tensor([2.0**24])),
        (torch.tensor([0.1], dtype=torch.float16), torch.tensor([0.1], dtype=torch.bfloat16)),
        (torch.tensor([1.0]), torch.tensor([1 + 1j])),
        (torch.ones(2, dtype=torch.float16), torch.ones(3)),
    ],
    ids=["narrower", "wraps", "rounds", "halves", "complex", "sizes"],
)
def test_equal_of_two_dtypes(a, b):
    assert torch.equal(a.to("xpu"), b.to("xpu")) is torch.equal(a, b)
    assert torch.equal(b.to("xpu"), a.to("xpu")) is torch.equal(b, a)


@pytest.mark.parametrize("name", ["mode", "median", "kthvalue"])
def test_no_element_to_choose_is_an_index_error(name):
    x = torch.empty(2, 0, device="xpu")
    arguments = [1, 1] if name == "kthvalue" else [1]
    with pytest.raises(IndexError, match="to have non-zero size"):
        getattr(torch, name)(x, *arguments)


@pytest.mark.values
@pytest.mark.parametrize("keepdim", [False, True])
def test_mode_into(keepdim):
    x = torch.tensor([[1, 2, 2], [3, 3, 0]])
    values, indices = (torch.empty(0, dtype=torch.int64, device="xpu") for _ in range(2))
    torch.mode(x.to("xpu"), 1, keepdim, out=(values, indices))
    expected = torch.mode(x, 1, keepdim)
    assert torch.equal(values.cpu(), expected.values)
    assert torch.equal(x.gather(1, indices.cpu().view(2, 1)), expected.values.view(2, 1))


@pytest.mark.values
@pytest.mark.parametrize("name", ["max", "min"])
def test_the_extreme_of_all_into_another_dtype(name):
    x, out = torch.tensor([1.5, -2.0], dtype=torch.bfloat16), torch.empty((), device="xpu")
    getattr(torch, name)(x.to("xpu"), out=out)
    assert out.item() == getattr(torch, name)(x).item()
    with pytest.raises(RuntimeError, match="Expected out tensor to have dtype"):
        getattr(torch, name)(x.to("xpu"), out=out.long())
