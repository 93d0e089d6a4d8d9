"""Views of packed weights: their elements are those of the whole, and they share its memory."""

import pytest
import torch
from torchao.quantization import IntxWeightOnlyConfig, PerGroup, quantize_

from ao_xpu.intx.packed_tensor import IntxPackedTensor

VIEWS = {
    "rows": lambda w: w[3:7],
    "no rows": lambda w: w[5:5],
    "last rows": lambda w: w[-5:],
    "columns": lambda w: w[:, 32:96],
    "last columns": lambda w: w[:, 64:],
    "rows and columns": lambda w: w[2:9].narrow(1, 32, 64),
    "transpose": lambda w: w.t(),
    "mT": lambda w: w.transpose(0, -1),
    "twice": lambda w: w.t().t(),
    "columns of rows of the transpose": lambda w: w.t()[32:64][:, 1:4],
    "row": lambda w: w[4],
    "column of the transpose": lambda w: w.t()[:, 4],
    "part of a row": lambda w: w[4][32:64],
    "detached": lambda w: w.detach(),
}


def make_weight(bits):
    torch.manual_seed(0)
    layer = torch.nn.Linear(128, 12, dtype=torch.bfloat16, device="xpu")
    quantize_(layer, IntxWeightOnlyConfig(getattr(torch, f"int{bits}"), PerGroup(32)))
    return layer.weight.detach()


@pytest.mark.values
@pytest.mark.parametrize("bits", range(1, 8))
@pytest.mark.parametrize("name", VIEWS)
def test_elements(name, bits):
    weight, view = make_weight(bits), VIEWS[name]
    got, expected = view(weight), view(weight.dequantize())
    assert type(got) is IntxPackedTensor
    assert (got.shape, got.dtype) == (expected.shape, expected.dtype)
    assert torch.equal(got.dequantize(), expected)
    if got.numel():
        begin = weight.qdata.untyped_storage().data_ptr()
        assert got.qdata.untyped_storage().data_ptr() == begin


@pytest.mark.values
@pytest.mark.parametrize("bits", range(1, 8))
@pytest.mark.parametrize("name", ["rows", "columns", "rows and columns", "transpose", "mT"])
def test_products(name, bits):
    weight, view = make_weight(bits), VIEWS[name]
    part = view(weight)
    elements = part.dequantize()
    x = torch.randn(5, part.shape[1]).bfloat16().xpu()
    expected = x @ elements.t()
    for got in (torch.nn.functional.linear(x, part), x @ part.t(), torch.mm(x, part.t())):
        torch.testing.assert_close(got, expected, rtol=0.02, atol=0.02)
    bias = torch.randn(part.shape[0]).bfloat16().xpu()
    got = torch.addmm(bias, x, part.t())
    torch.testing.assert_close(got, expected + bias, rtol=0.02, atol=0.05)
    got = torch.addmm(bias, x, part.t(), beta=0.5, alpha=2)
    torch.testing.assert_close(got, 2 * expected + bias / 2, rtol=0.02, atol=0.05)
    got = torch.addmm(torch.full_like(bias, torch.nan), x, part.t(), beta=0, alpha=2)
    torch.testing.assert_close(got, 2 * expected, rtol=0.02, atol=0.05)
    y = torch.randn(5, part.shape[0]).bfloat16().xpu()
    torch.testing.assert_close(y @ part, y @ elements, rtol=0.02, atol=0.02)
    torch.testing.assert_close(part @ x.t(), elements @ x.t(), rtol=0.02, atol=0.02)


def test_a_copy_has_memory_of_its_own():
    weight = make_weight(3)
    for copied in (weight.clone(), weight.t().contiguous(), weight[2:4].clone()):
        assert type(copied) is IntxPackedTensor
        storages = [t.qdata.untyped_storage().data_ptr() for t in (weight, copied)]
        assert storages[0] != storages[1]


def test_parts_of_groups_are_rejected():
    weight = make_weight(3)
    with pytest.raises(ValueError, match="elements 8 to 40 of a packed tensor are no groups of 32"):
        weight[:, 8:40]
    with pytest.raises(NotImplementedError, match="with step 2"):
        weight[::2]
    with pytest.raises(NotImplementedError, match="selects no columns"):
        weight[:, 3]
