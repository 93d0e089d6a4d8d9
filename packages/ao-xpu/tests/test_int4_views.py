"""Views of Int4PlainInt32Tensor: which elements they have, whose memory, and what products they give."""

import pytest
import torch
from torchao.quantization import Int4PlainInt32Tensor

pytestmark = pytest.mark.values
N, K, GROUP = 48, 256, 32


@pytest.fixture(params=["xpu", "cpu"])
def weight(request):
    torch.manual_seed(0)
    weight = Int4PlainInt32Tensor.from_hp(torch.randn(N, K).bfloat16().xpu(), [1, GROUP])
    return weight.to(request.param)


VIEWS = {
    "rows": lambda w: w[5:20],
    "rows to the end": lambda w: w[40:],
    "no rows": lambda w: w[7:7],
    "bounds beyond": lambda w: w[-8:1000],
    "columns": lambda w: w[:, 64:192],
    "both": lambda w: w[8:40, 32:],
    "narrow": lambda w: w.narrow(0, 3, 9),
    "narrow columns": lambda w: w.narrow(-1, 96, 64),
    "chunk": lambda w: w.chunk(5)[4],
    "chunk columns": lambda w: w.chunk(4, 1)[1],
    "split": lambda w: w.split(20)[2],
    "split with sizes": lambda w: w.split([16, 30, 2], 0)[1],
    "select": lambda w: w[11],
    "select from the end": lambda w: w.select(0, -1),
    "t": lambda w: w.t(),
    "transpose": lambda w: w.transpose(-1, 0),
    "t of t": lambda w: w.t().t(),
    "rows of t": lambda w: w.t()[32:96],
    "columns of t": lambda w: w.t()[:, 3:10],
    "slice of a slice": lambda w: w[4:40][2:10, 64:],
    "detach": lambda w: w.detach(),
}


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_a_view_has_the_elements_and_memory_of_its_base(weight, view):
    elements = weight.dequantize()
    got = view(weight)
    assert type(got) is Int4PlainInt32Tensor
    expected = view(elements)
    assert got.shape == expected.shape
    assert torch.equal(got.dequantize(), expected)
    assert got.qdata.untyped_storage().data_ptr() == weight.qdata.untyped_storage().data_ptr()


@pytest.mark.parametrize(
    "join",
    [
        lambda w: torch.cat([w, w[:8]]),
        lambda w: torch.cat([w[:, :64], w], 1),
        lambda w: torch.cat([w.t(), w.t()[:32]]),
        lambda w: torch.cat([w.t(), w.t()], -1),
    ],
)
def test_cat_copies(weight, join):
    joined = join(weight)
    assert type(joined) is Int4PlainInt32Tensor
    assert torch.equal(joined.dequantize(), join(weight.dequantize()))
    assert joined.qdata.data_ptr() != weight.qdata.data_ptr()


def check(got, expected):
    """`expected` is a product of elements that are rounded to bf16; the kernel does not round them."""
    torch.testing.assert_close(got, expected, atol=0.06, rtol=0.02)


def test_products_of_views(weight):
    torch.manual_seed(1)
    elements = weight.dequantize()
    x = torch.randn(3, K).bfloat16().to(weight.device)
    linear = torch.nn.functional.linear
    check(linear(x, weight[8:20]), linear(x, elements[8:20]))
    check(linear(x[:, :64], weight[:, 64:128]), x[:, :64] @ elements[:, 64:128].t())
    check(x @ weight.t(), x @ elements.t())
    check(torch.mm(x, weight.t()), x @ elements.t())
    bias = torch.randn(N).bfloat16().to(weight.device)
    expected = torch.addmm(bias, x, elements.t(), beta=2, alpha=0.5)
    got = torch.addmm(bias, x, weight.t(), beta=2, alpha=0.5)
    check(got, expected)
    nothing = torch.full_like(bias, torch.nan)
    check(torch.addmm(nothing, x, weight.t(), beta=0), x @ elements.t())
    y = x[:, :N]
    check(linear(y, weight.t()), y @ elements)


def test_a_copy_into_a_view_changes_its_base(weight):
    other = weight[:8].clone()
    weight[16:24].copy_(other)
    assert torch.equal(weight[16:24].dequantize(), other.dequantize())


def test_activation_scales_follow_the_columns(weight):
    scale = torch.rand(K).bfloat16().to(weight.device) + 0.5
    weight.act_pre_scale = scale
    x = torch.ones(2, 64).bfloat16().to(weight.device)
    part = weight[:, 64:128]
    expected = (x * scale[64:128]) @ weight.dequantize()[:, 64:128].t()
    check(torch.nn.functional.linear(x, part), expected)
    assert torch.equal(torch.cat([part, part], 1).act_pre_scale, scale[64:128].repeat(2))
    assert torch.equal(torch.cat([part, part]).act_pre_scale, scale[64:128])
    part.act_pre_scale = None
    with pytest.raises(ValueError, match="scale their activations"):
        torch.cat([part, weight[:, :64]], 1)


def test_groups_that_are_no_words_are_cut_where_both_end():
    torch.manual_seed(0)
    weight = Int4PlainInt32Tensor.from_hp(torch.randn(4, 48).bfloat16().xpu(), [1, 12])
    assert torch.equal(weight[:, 24:].dequantize(), weight.dequantize()[:, 24:])
    with pytest.raises(ValueError, match="no groups of 24"):
        weight[:, 12:]


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        (lambda w: w[:, 8:64], ValueError, "elements 8 to 64 .* no groups of 32"),
        (lambda w: w.chunk(3, 1), ValueError, "no groups of 32"),
        (lambda w: w.t()[:40], ValueError, "no groups of 32"),
        (lambda w: w[::2], NotImplementedError, "step 2"),
        (lambda w: w[:, 3], NotImplementedError, "selects no columns"),
        (lambda w: torch.cat([w, w.dequantize()]), ValueError, "concatenate with int4 tensors"),
        (lambda w: torch.cat([w, w.t()]), ValueError, "groups of one size"),
        (lambda w: torch.nn.functional.linear(w.dequantize(), w[3]), ValueError, "1 dimensions"),
    ],
)
def test_what_is_no_int4_tensor_is_rejected(weight, wrong, error, message):
    with pytest.raises(error, match=message):
        wrong(weight)
