"""What the kernels of flex attention cannot compute is compiled as plain operators, and counted."""

import flex_cases as cases
import pytest
import torch
import torch._inductor.utils
from flex_cases import CASES
from test_flex_attention import check_gradients
from torch.nn.attention.flex_attention import flex_attention

import inductor_xpu

pytestmark = [
    pytest.mark.usefixtures("forget_compiled_code"),
    pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning"),
]


@pytest.fixture(autouse=True)
def compile_again():
    """Only what is compiled is counted, not what a cache has."""
    with torch._inductor.utils.fresh_cache():
        yield


@pytest.mark.values
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_heads_too_large_for_local_memory(dtype, monkeypatch):
    from inductor_xpu.flex_attention import backward, forward

    def find_no_room(*_, **__):
        raise NotImplementedError("no room")

    for module in (forward, backward):
        monkeypatch.setattr(module, "choose_work", find_no_room)
    before = inductor_xpu.fallbacks()
    check_gradients(CASES["key table"], dtype, (1, 2, 2, 50, 60, 16, 16))
    for name in ("flex_attention", "flex_attention_backward"):
        assert inductor_xpu.fallbacks()[name] == before.get(name, 0) + 1


@pytest.mark.values
def test_a_function_with_a_sum():
    before = inductor_xpu.fallbacks().get("flex_attention", 0)
    table = torch.randn(40, 300, device="xpu") / 10
    q, k, v = (torch.randn(1, 2, 40, 16, device="xpu") for _ in range(3))
    compiled = torch.compile(flex_attention, fullgraph=True)
    got = compiled(q, k, v, lambda s, b, h, i, j: s + table[j].sum())
    bias = table.sum(1).expand(40, 40)
    expected = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=bias)
    torch.testing.assert_close(got, expected)
    assert inductor_xpu.fallbacks()["flex_attention"] == before + 1


@pytest.mark.values
def test_the_gradient_of_a_table_with_two_indices():
    before = inductor_xpu.fallbacks().get("flex_attention_backward", 0)
    case = cases.Case(lambda t: lambda s, b, h, q, k: s + t["by_key"][h, q] * t["by_key"][h, k])
    check_gradients(case, torch.float32, (1, 2, 2, 50, 60, 16, 16))
    assert inductor_xpu.fallbacks()["flex_attention_backward"] == before + 1
