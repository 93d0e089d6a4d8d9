"""Compiled code draws the numbers of eager mode if config.align_random_eager is on."""

import pytest
import torch
import torch.nn.functional as F
from torch._inductor import config
from torch._inductor.utils import run_and_get_code
from torch.utils.checkpoint import checkpoint

pytestmark = [
    pytest.mark.values,
    # What Inductor imports warns about itself.
    pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning"),
]


@pytest.fixture(autouse=True)
def _aligned():
    torch._dynamo.reset()
    with config.patch(align_random_eager=True):
        yield
    torch._dynamo.reset()


def drawn(function, *inputs):
    """The results and the generator's state after a seed and a call."""
    torch.manual_seed(7)
    torch.rand(5, device="xpu")  # the generator has advanced
    results = function(*inputs)
    state = torch.xpu.get_rng_state()
    return (*(results if isinstance(results, tuple) else (results,)), state)


def check(function, *inputs, calls=1, **options):
    """The compiled function draws what the function does, and leaves the generator in the same state."""
    compiled = torch.compile(function, **options)
    for _ in range(calls):
        for got, expected in zip(drawn(compiled, *inputs), drawn(function, *inputs), strict=True):
            assert torch.equal(got, expected)
            assert got.dtype == expected.dtype
            assert got.stride() == expected.stride()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16, torch.float64])
def test_numbers(dtype):
    if dtype == torch.float64 and not torch.xpu.get_device_properties().has_fp64:
        pytest.skip("the device has no float64")

    def function(x):
        first = torch.rand(1001, device="xpu", dtype=dtype)
        return first, torch.rand_like(x), torch.randn_like(x), torch.randn(7, 3, device="xpu")

    check(function, torch.zeros(33, 31, device="xpu", dtype=dtype))


def test_rounding_does_not_reach_the_end_of_the_interval():
    check(lambda: torch.rand(1 << 18, device="xpu", dtype=torch.bfloat16))


def test_integers():
    def function():
        narrow = torch.randint(-3, 9, (999,), device="xpu")
        wide = torch.randint(-(1 << 40), 1 << 41, (50,), device="xpu")
        widest = torch.randint(-(1 << 63), (1 << 63) - 1, (50,), device="xpu")
        return narrow, wide, widest, torch.randint(200, (77,), device="xpu", dtype=torch.uint8)

    check(function)


def test_numbers_follow_indices_not_addresses():
    x = torch.ones(12, 7, 5, device="xpu").permute(2, 0, 1)
    check(lambda x: (torch.rand_like(x), F.dropout(x, 0.3)), x)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_dropout_in_training(dtype):
    x = torch.randn(64, 100, device="xpu", dtype=dtype, requires_grad=True)

    def function(x):
        y = F.dropout(F.dropout(x, 0.3), 0.6)
        (grad,) = torch.autograd.grad(y.sum(), x)
        return y.detach(), grad

    compiled = torch.compile(lambda x: F.dropout(F.dropout(x, 0.3), 0.6))

    def compiled_function(x):
        y = compiled(x)
        (grad,) = torch.autograd.grad(y.sum(), x)
        return y.detach(), grad

    for got, expected in zip(drawn(compiled_function, x), drawn(function, x), strict=True):
        torch.testing.assert_close(got, expected)
        assert torch.equal(got != 0, expected != 0)


def test_dropout_is_fused():
    x = torch.randn(1000, device="xpu")
    _, (code,) = run_and_get_code(torch.compile(lambda x: F.dropout(x.sin(), 0.5) + 1), x)
    assert code.count("load_kernel(") == 1
    assert code.count("random_states.default(") == 1


def test_other_forms_of_dropout():
    x = torch.randn(4, 6, 9, device="xpu")
    check(lambda x: (F.dropout1d(x, 0.4), F.dropout(x, 1.0), F.dropout(x, 0.2, False)), x)
    check(lambda x: torch.bernoulli(x.sigmoid()), x)


def test_draws_without_elements_take_no_numbers():
    check(lambda: (torch.rand(0, 4, device="xpu"), torch.rand(4, device="xpu")))


def test_operators_that_stay_calls_draw_in_their_place():
    def function():
        first = torch.rand(9, device="xpu")
        order = torch.randperm(20, device="xpu")
        return first, order, torch.rand(9, device="xpu"), torch.randperm(5, device="xpu")

    check(function)
    with config.patch(align_random_eager=False, fallback_random=True):
        torch._dynamo.reset()
        check(function)


def test_dropout_of_attention():
    q = torch.randn(1, 2, 8, 16, device="xpu")

    def function(q):
        q = F.dropout(q, 0.1)
        q = F.scaled_dot_product_attention(q, q, q, dropout_p=0.5)
        return F.dropout(q, 0.2) * torch.rand_like(q)

    for got, expected in zip(drawn(torch.compile(function), q), drawn(function, q), strict=True):
        torch.testing.assert_close(got, expected)


def test_one_kernel_draws_for_all_sizes():
    compiled = torch.compile(lambda x: torch.rand_like(x) + F.dropout(x, 0.1), dynamic=True)

    def function(x):
        return torch.rand_like(x) + F.dropout(x, 0.1)

    for size in (3, 1000, 77):
        x = torch.ones(size, 5, device="xpu")
        for got, expected in zip(drawn(compiled, x), drawn(function, x), strict=True):
            torch.testing.assert_close(got, expected)


def test_replays_of_captured_work():
    def function(x):
        return torch.rand_like(x), F.dropout(x, 0.5), torch.randn_like(x)

    x = torch.ones(300, device="xpu")
    check(function, x, calls=5, mode="reduce-overhead")
    compiled = torch.compile(function, mode="reduce-overhead")
    torch.manual_seed(1)
    replayed = [compiled(x) for _ in range(6)]
    torch.manual_seed(1)
    for got in replayed:
        for one, other in zip(got, function(x), strict=True):
            assert torch.equal(one, other)


def test_checkpointing():
    def block(x):
        return F.dropout(x, 0.5).sin()

    def gradient(run):
        x = torch.ones(500, device="xpu", requires_grad=True)
        y = run(x)
        y.sum().backward()
        return y.detach(), x.grad

    compiled = torch.compile(lambda x: checkpoint(block, x, use_reentrant=False))
    for got, expected in zip(
        drawn(gradient, compiled)[:2], drawn(gradient, block)[:2], strict=True
    ):
        torch.testing.assert_close(got, expected)


def test_other_devices_draw_as_without_the_setting_for_xpu():
    def function():
        return torch.rand(9, device="cpu"), torch.randn(9, device="cpu")

    with config.patch(align_random_eager=False):
        torch.manual_seed(0)
        expected = torch.compile(function)()
    torch._dynamo.reset()
    torch.manual_seed(0)
    for got, other in zip(torch.compile(function)(), expected, strict=True):
        assert torch.equal(got, other)
