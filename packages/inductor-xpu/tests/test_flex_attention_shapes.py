"""Flex attention of other dtypes, sizes, blocks and modes than those of test_flex_attention.py."""

import gc
import random

import flex_cases as cases
import pytest
import torch
from flex_cases import CASES
from test_flex_attention import check, check_gradients
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

import inductor_xpu

pytestmark = [
    pytest.mark.usefixtures("forget_compiled_code"),
    pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning"),
]

# Batches, heads, key heads, queries, keys, sizes of a key and of a value, and of blocks.
SHAPES = {
    "grouped": (2, 6, 2, 70, 200, 64, 64, 128),
    "odd heads": (1, 2, 2, 130, 130, 40, 80, 128),
    "tiny heads": (1, 3, 3, 33, 65, 5, 3, (16, 32)),
    "large heads": (1, 1, 1, 64, 64, 128, 256, (32, 64)),
    "odd blocks": (1, 2, 1, 111, 90, 16, 24, (40, 24)),
    "one query": (3, 4, 2, 1, 300, 64, 64, 128),
}


@pytest.mark.values
@pytest.mark.parametrize("shape", SHAPES)
def test_shapes(shape):
    *sizes, block = SHAPES[shape]
    check(CASES["two tables"], torch.float32, tuple(sizes), block)


@pytest.mark.values
@pytest.mark.parametrize("shape", ["grouped", "tiny heads", "odd blocks"])
def test_gradients_of_shapes(shape):
    *sizes, block = SHAPES[shape]
    check_gradients(CASES["causal alibi"], torch.float32, tuple(sizes), block)


@pytest.mark.values
@pytest.mark.parametrize(("batches", "queries", "keys"), [(0, 10, 12), (1, 0, 12), (1, 10, 0)])
@pytest.mark.parametrize("is_compiled", [False, True])
def test_nothing_to_attend(batches, queries, keys, is_compiled):
    """A query that sees no key is 0; stock PyTorch raises if there are no keys."""
    q, k, v = (
        torch.randn(batches, 2, length, 16, device="xpu", requires_grad=True)
        for length in (queries, keys, keys)
    )
    out = (torch.compile(flex_attention) if is_compiled else flex_attention)(q, k, v)
    out.sum().backward()
    for tensor in (out, q.grad, k.grad, v.grad):
        assert torch.equal(tensor.cpu(), torch.zeros(tensor.shape))


def test_operands_of_two_devices():
    host = torch.randn(1, 1, 8, 16)
    with pytest.raises(ValueError, match="device"):
        flex_attention(host.to("xpu"), host, host)


@pytest.mark.values
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_gradients_of_16_bits(dtype):
    check_gradients(CASES["causal alibi"], dtype, (1, 2, 2, 100, 100, 64, 64))


@pytest.mark.values
def test_values_of_bf16():
    check(CASES["causal documents"], torch.bfloat16, (2, 2, 2, 150, 150, 64, 64))


@pytest.mark.values
def test_lengths_without_a_new_compilation():
    """The second length is compiled as a dynamic one, which serves all others."""
    case, compiled = CASES["causal alibi"], torch.compile(cases.attend, fullgraph=True)
    counter = torch._dynamo.utils.counters["stats"]
    for n, length in enumerate((140, 270, 400, 520)):
        tensors = cases.make_tensors(1, 2, length, length)
        host = [torch.randn(1, 2, length, 32) for _ in range(3)]
        expected = cases.reference(case, *(x.double() for x in host), cases.in_f64(tensors))
        q, k, v = (x.to("xpu") for x in host)
        tensors = cases.on_xpu(tensors)
        mask = cases.block_mask_of(case, tensors, q, k)
        got = compiled(case, q, k, v, tensors, mask)
        torch.testing.assert_close(got[0].cpu().double(), expected[0], rtol=2e-5, atol=2e-5)
        if n == 1:
            graphs = counter["unique_graphs"]
    assert counter["unique_graphs"] == graphs


@pytest.mark.values
def test_eager_mode_runs_the_kernels():
    before = inductor_xpu.fallbacks()
    q, k, v = (torch.randn(1, 2, 90, 32, device="xpu", requires_grad=True) for _ in range(3))
    mask = create_block_mask(cases.causal, None, None, 90, 90, device="xpu")
    got = flex_attention(q, k, v, block_mask=mask)
    expected = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    torch.testing.assert_close(got, expected)
    weights = torch.randn_like(got)
    got, expected = (torch.autograd.grad(out, (q, k, v), weights) for out in (got, expected))
    torch.testing.assert_close(got, expected)
    assert inductor_xpu.fallbacks() == before


@pytest.mark.values
def test_gradients_in_a_captured_graph():
    """Each replay starts from zeros before it adds to the gradient of a captured tensor."""
    bias = torch.randn(2, 70, device="xpu", requires_grad=True)
    q, k, v = (torch.randn(1, 2, 70, 16, device="xpu", requires_grad=True) for _ in range(3))
    compiled = torch.compile(
        lambda q, k, v, bias: flex_attention(q, k, v, lambda s, b, h, i, j: s + bias[h, j]),
        fullgraph=True,
    )

    def gradients():
        return torch.autograd.grad(compiled(q, k, v, bias).square().sum(), (q, k, v, bias))

    gradients()
    torch.xpu.synchronize()
    graph = torch.xpu.XPUGraph()
    with torch.xpu.graph(graph):
        got = gradients()
    with torch.no_grad():
        for x in (q, k, v, bias):
            x.copy_(torch.randn_like(x))
    for _ in range(2):
        graph.replay()
    torch.testing.assert_close(got, gradients(), rtol=1e-4, atol=1e-4)


@pytest.mark.values
def test_an_index_out_of_range_is_an_error_only_where_the_mask_shows_the_key():
    table = torch.randn(40, device="xpu")
    q, k, v = (torch.randn(1, 1, 64, 16, device="xpu") for _ in range(3))

    def attend(mask):
        return flex_attention(q, k, v, lambda s, b, h, i, j: s + table[i - j], block_mask=mask)

    def near(b, h, i, j):
        return (i - j < 40) & (i >= j)

    compiled = torch.compile(attend, fullgraph=True)
    compiled(create_block_mask(near, None, None, 64, 64, device="xpu"))
    torch.xpu.synchronize()
    compiled(create_block_mask(cases.causal, None, None, 64, 64, device="xpu"))
    with pytest.raises(Exception, match="out of range"):
        torch.xpu.synchronize()


@pytest.mark.values
def test_memory_is_linear_in_the_length():
    def peak(length):
        q, k, v = (
            torch.randn(1, 1, length, 32, device="xpu", requires_grad=True) for _ in range(3)
        )
        mask = create_block_mask(cases.window, None, None, length, length, device="xpu")
        for _ in range(2):  # the first call compiles
            gc.collect()
            before = torch.xpu.memory_allocated()
            torch.xpu.reset_peak_memory_stats()
            torch.autograd.grad(flex_attention(q, k, v, block_mask=mask).sum(), (q, k, v))
        return torch.xpu.max_memory_allocated() - before

    assert peak(4096) < 5 * peak(1024)


@pytest.mark.values
@pytest.mark.parametrize("seed", range(6))
def test_random_functions_and_shapes(seed):
    """The score of one case, the mask of another, and sizes that fit no tile."""
    choose = random.Random(seed)
    score, mask = (choose.choice(list(CASES.values())) for _ in range(2))
    case = cases.Case(score.score, mask.mask, mask.per_batch)
    key_heads, shared = choose.randint(1, 2), choose.randint(1, 3)
    lengths = choose.randint(1, 150), choose.randint(1, 150)
    heads = choose.randint(1, 70), choose.randint(1, 70)
    block = choose.choice([128, 64, (16, 48), (37, 29)])
    batches = choose.randint(1, 2)
    shape = (batches, key_heads * shared, key_heads, *lengths, *heads)
    check_gradients(case, torch.float32, shape, block)


@pytest.mark.values
@pytest.mark.parametrize("name", ["key table", "lengths", "hidden rows"])
def test_few_queries_share_keys_among_groups(name, monkeypatch):
    from inductor_xpu.flex_attention import forward

    monkeypatch.setattr(forward, "choose_parts", lambda *_: 5)
    check(CASES[name], torch.float32, (2, 4, 2, 3, 700, 40, 24), (64, 32))
