"""Kernels with the content of Triton's tutorials compute what PyTorch's operators compute."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch

sys.path.insert(0, str(Path(__file__).parent))

import tutorials

pytestmark = pytest.mark.values
CLOSE = {torch.float32: {"rtol": 1e-4, "atol": 1e-4}, torch.bfloat16: {"rtol": 2e-2, "atol": 2e-2}}
CLOSE[torch.float16] = {"rtol": 4e-3, "atol": 4e-3}


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


@pytest.mark.parametrize("count", [1, 1000, 98432])
def test_vector_addition(count):
    x, y = torch.randn(2, count, device="xpu")
    assert torch.equal(tutorials.add(x, y), x + y)


@pytest.mark.parametrize("shape", [(1823, 781), (3, 4096), (70, 17)])
def test_softmax(shape):
    x = torch.randn(shape, device="xpu")
    torch.testing.assert_close(tutorials.softmax(x), torch.softmax(x, 1))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize(("m", "n", "k"), [(128, 128, 128), (100, 70, 50), (33, 257, 129)])
def test_matmul(dtype, m, n, k):
    a, b = (
        torch.randn(m, k, device="xpu", dtype=dtype),
        torch.randn(k, n, device="xpu", dtype=dtype),
    )
    expected = a.cpu().float() @ b.cpu().float()
    got = tutorials.matmul(a, b)
    torch.testing.assert_close(
        got.cpu().float(), expected, rtol=1e-2, atol=k**0.5 * CLOSE[dtype]["atol"]
    )


def test_matmul_of_transposed_matrices_with_activation():
    a, b = torch.randn(60, 70, device="xpu").t(), torch.randn(90, 60, device="xpu").t()
    got = tutorials.matmul(a, b, "leaky_relu")
    expected = torch.nn.functional.leaky_relu(a @ b, 0.01)
    torch.testing.assert_close(got, expected, **CLOSE[torch.float32])


def test_matmul_is_tuned():
    a, b = torch.randn(96, 64, device="xpu"), torch.randn(64, 80, device="xpu")
    torch.testing.assert_close(tutorials.matmul(a, b, tuned=True), a @ b, **CLOSE[torch.float32])
    assert tutorials.tuned_matmul.best_config in tutorials.MATMUL_CONFIGS


def test_dropout_draws_from_its_seed():
    x = torch.ones(10000, device="xpu")
    first, again, other = (tutorials.dropout(x, 0.4, seed) for seed in (3, 3, 4))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert abs((first == 0).float().mean().item() - 0.4) < 0.03
    torch.testing.assert_close(first[first != 0], torch.full_like(first[first != 0], 1 / 0.6))


@pytest.mark.parametrize("columns", [64, 200, 1024])
def test_layer_norm_with_gradients(columns):
    x = torch.randn(50, columns, device="xpu", requires_grad=True)
    w, b = (torch.rand(columns, device="xpu").requires_grad_() for _ in range(2))
    dy = torch.randn(50, columns, device="xpu")
    out = tutorials.LayerNorm.apply(x, w, b, 1e-5)
    expected = torch.nn.functional.layer_norm(x, (columns,), w, b, 1e-5)
    torch.testing.assert_close(out, expected, **CLOSE[torch.float32])
    for got, its in zip(
        torch.autograd.grad(out, (x, w, b), dy),
        torch.autograd.grad(expected, (x, w, b), dy),
        strict=True,
    ):
        torch.testing.assert_close(got, its, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("length", [64, 100])
def test_attention_with_gradients(dtype, causal, length):
    q, k, v = (
        torch.randn(2, 3, length, 32, device="xpu", dtype=dtype).requires_grad_() for _ in range(3)
    )
    do = torch.randn(q.shape, device="xpu", dtype=dtype)
    out = tutorials.Attention.apply(q, k, v, causal)
    on_host = [x.detach().cpu().float().requires_grad_() for x in (q, k, v)]
    expected = torch.nn.functional.scaled_dot_product_attention(*on_host, is_causal=causal)
    torch.testing.assert_close(out.cpu().float(), expected, **CLOSE[dtype])
    for got, its in zip(
        torch.autograd.grad(out, (q, k, v), do),
        torch.autograd.grad(expected, on_host, do.cpu().float()),
        strict=True,
    ):
        torch.testing.assert_close(got.cpu().float(), its, rtol=1e-2, atol=5e-3)


def test_grouped_matmul():
    sizes = [(64, 64, 64), (100, 33, 70), (1, 200, 50), (128, 16, 31)]
    lefts = [torch.randn(m, k, device="xpu") for m, _, k in sizes]
    rights = [torch.randn(k, n, device="xpu") for _, n, k in sizes]
    for got, a, b in zip(tutorials.grouped_matmul(lefts, rights), lefts, rights, strict=True):
        torch.testing.assert_close(got, a @ b, **CLOSE[torch.float32])


@pytest.fixture
def several_sub_groups(monkeypatch):
    """Programs are of several sub-groups, as on a GPU; kernels that are compiled otherwise are forgotten."""
    from inductor_xpu.triton import compiler

    stock = compiler.target_of
    as_gpu = lambda capability: replace(stock(capability), gpu=True)  # noqa: E731
    monkeypatch.setattr(compiler, "target_of", as_gpu)
    functions = [f for f in vars(tutorials).values() if hasattr(f, "device_caches")]
    for function in functions:
        function.device_caches.clear()
    yield
    for function in functions:
        function.device_caches.clear()


@pytest.mark.usefixtures("several_sub_groups")
def test_programs_of_several_sub_groups():
    test_softmax((70, 300))
    test_matmul(torch.float32, 100, 70, 50)
    test_matmul(torch.float16, 100, 70, 50)
    test_layer_norm_with_gradients(200)
    test_attention_with_gradients(torch.float32, True, 100)
    test_grouped_matmul()
