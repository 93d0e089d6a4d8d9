"""Kernels of @triton.jit in compiled functions: beside loops of our own, tuned, with gradients, captured."""

import sys
from pathlib import Path

import pytest
import torch
import triton
from torch._inductor.utils import run_and_get_code

sys.path.insert(0, str(Path(__file__).parent))

import kernels
import tutorials

pytestmark = [
    pytest.mark.values,
    # What Inductor imports warns about itself.
    pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning"),
    # Dynamo instantiates what is not to be instantiated.
    pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning"),
    pytest.mark.usefixtures("forget_compiled_code"),
]


def alone(x, y):
    return kernels.add(x, y)


def after_loops(x, y):
    return kernels.add(x.sin(), y.exp())


def between_loops(x, y):
    return (kernels.add(x.sin(), y) * 2).cos() + y


def twice(x, y):
    return kernels.add(kernels.add(x, y).relu(), y * 3)


def in_place(x, y):
    z = x + y
    kernels.double(z)
    return z - 1


def of_an_input(x, y):
    kernels.double(y)
    return x * y


def tuned(x, y):
    return kernels.add_tuned(x + 1, y) * 2


def of_views(x, y):
    return kernels.add(x.view(-1)[10:300], y.view(-1)[20:310]) + 1


def beside_reductions(x, y):
    rows = torch.softmax(x.view(10, 100), 1)
    return kernels.add(rows.view(-1), y).view(10, 100).sum(0)


FUNCTIONS = [
    alone,
    after_loops,
    between_loops,
    twice,
    in_place,
    of_an_input,
    tuned,
    of_views,
    beside_reductions,
]


@pytest.fixture
def pair():
    torch.manual_seed(0)
    return torch.randn(2, 1000, device="xpu")


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_kernels_in_compiled_functions(function, dynamic, pair):
    call = torch.compile(function, dynamic=dynamic)
    for _ in range(3):
        inputs, again = [x.clone() for x in pair], [x.clone() for x in pair]
        torch.testing.assert_close(call(*inputs), function(*again), rtol=1e-5, atol=1e-5)
        for x, y in zip(inputs, again, strict=True):
            torch.testing.assert_close(x, y)


def test_sizes_that_vary_compile_once():
    from torch._dynamo.testing import CompileCounterWithBackend

    counter = CompileCounterWithBackend("inductor")
    call = torch.compile(after_loops, dynamic=True, backend=counter)
    for size in (64, 1000, 4097):
        x, y = torch.randn(2, size, device="xpu")
        torch.testing.assert_close(call(x, y), after_loops(x, y))
    assert counter.frame_count == 1


def test_loops_stay_ours(pair):
    _, (code,) = run_and_get_code(torch.compile(between_loops), *pair)
    assert code.count("load_kernel(") == 2
    assert code.count("async_compile.triton(") == 1
    assert "_xpu_getCurrentRawStream" not in code


def test_replayed_graphs(pair):
    call = torch.compile(between_loops, mode="reduce-overhead")
    for step in range(6):
        x, y = (z + step for z in pair)
        torch.testing.assert_close(call(x, y), between_loops(x, y))


def test_a_captured_graph(pair):
    x, y = pair
    out = kernels.add(x, y)  # builds the kernel
    graph = torch.xpu.XPUGraph()
    with torch.xpu.graph(graph):
        out = kernels.add(x, y)
        kernels.double(out)
    for _ in range(3):
        x.add_(1)
        graph.replay()
        torch.testing.assert_close(out, (x + y) * 2)


@torch.library.triton_op("inductor_xpu_tests::add", mutates_args={})
def add_operator(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    torch.library.wrap_triton(kernels.add_kernel)[(triton.cdiv(x.numel(), 128),)](
        x, y, out, x.numel(), BLOCK=128
    )
    return out


add_operator.register_autograd(lambda ctx, grad: (grad, grad))


def test_an_operator_of_a_kernel(pair):
    x, y = pair
    assert torch.equal(add_operator(x, y), x + y)
    call = torch.compile(lambda x, y: add_operator(x.sin(), y).sum())
    given = [z.clone().requires_grad_() for z in pair]
    gradients = torch.autograd.grad(call(*given), given)
    torch.testing.assert_close(gradients[0], x.cos())
    torch.testing.assert_close(gradients[1], torch.ones_like(y))


def test_gradients_through_kernels():
    torch.manual_seed(0)
    x = torch.randn(20, 200, device="xpu", requires_grad=True)
    w, b = (torch.rand(200, device="xpu").requires_grad_() for _ in range(2))

    def loss(norm):
        return (norm(x * 2).tanh() * w).sum()

    ours = torch.compile(lambda: loss(lambda x: tutorials.LayerNorm.apply(x, w, b, 1e-5)))
    expected = loss(lambda x: torch.nn.functional.layer_norm(x, (200,), w, b, 1e-5))
    for got, its in zip(
        torch.autograd.grad(ours(), (x, w, b)),
        torch.autograd.grad(expected, (x, w, b)),
        strict=True,
    ):
        torch.testing.assert_close(got, its, rtol=1e-3, atol=1e-3)


@triton.jit
def _wrong(x_ptr):
    i = triton.language.arange(0, 32)
    j = triton.language.inline_asm_elementwise(
        "mov $0, $1;", "=r,r", [i], triton.language.int32, is_pure=True, pack=1
    )
    triton.language.store(x_ptr + i, j)


def test_an_error_of_a_kernel_names_the_users_line():
    def function(x):
        y = x + 1
        _wrong[(1,)](y)
        return y

    with pytest.raises(Exception, match=r"test_compiled\.py:\d+.*inline"):
        torch.compile(function)(torch.zeros(32, dtype=torch.int32, device="xpu"))
