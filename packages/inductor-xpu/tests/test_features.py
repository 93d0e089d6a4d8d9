"""What torch.compile offers beside loops: training, control flow, devices."""

import copy
import threading
import warnings

import pytest
import torch
import torch.nn.functional as F
from comparison import check, compare
from torch import nn

pytestmark = [
    pytest.mark.usefixtures("forget_compiled_code"),
    pytest.mark.values,
    # What Inductor imports warns about itself.
    pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning"),
]


def test_training():
    cpu = nn.Sequential(nn.Linear(20, 64), nn.GELU(), nn.LayerNorm(64), nn.Linear(64, 5))
    xpu = copy.deepcopy(cpu).to("xpu")
    compiled = torch.compile(xpu)
    x, y = torch.randn(32, 20), torch.randint(0, 5, (32,))
    optimizers = [torch.optim.AdamW(model.parameters(), lr=1e-2) for model in (cpu, xpu)]
    for _ in range(4):
        losses = [F.cross_entropy(cpu(x), y), F.cross_entropy(compiled(x.xpu()), y.xpu())]
        for loss, optimizer in zip(losses, optimizers, strict=True):
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    check(losses[1], losses[0], 1e-3)


@pytest.mark.parametrize("masked", [False, True])
def test_attention_of_dynamic_sizes(masked):
    def attend(q, k, v, *mask):
        return F.scaled_dot_product_attention(q, k, v, *mask)

    compiled = torch.compile(attend, dynamic=True)
    for batch, length in ((2, 16), (3, 33), (1, 7)):
        inputs = [torch.randn(batch, 4, length, 16) for _ in range(3)]
        if masked:
            inputs.append(torch.randn(batch, 1, length, length))
        check(compiled(*(i.to("xpu") for i in inputs)), attend(*inputs))


def test_indices_of_a_triangle():
    def triangle(x):
        i, j = torch.tril_indices(7, 7, -1, device=x.device)
        return x[i, j] * 2, torch.triu_indices(4, 5, device=x.device)

    x = torch.randn(7, 7)
    compare(triangle, x)
    _, (code,) = torch._inductor.utils.run_and_get_code(torch.compile(triangle), x.to("xpu"))
    assert "torch.ops.aten.tril_indices.default(" in code
    assert "double" not in code


def test_the_step_of_an_optimizer():
    eager = [torch.randn(30, 40, device="xpu", requires_grad=True) for _ in range(6)]
    compiled = [p.detach().clone().requires_grad_() for p in eager]
    for one, other in zip(eager, compiled, strict=True):
        one.grad = torch.randn_like(one)
        other.grad = one.grad.clone()
    optimizers = [torch.optim.AdamW(p, foreach=True) for p in (eager, compiled)]
    step = torch.compile(optimizers[1].step)
    for _ in range(3):
        optimizers[0].step()
        step()
    for one, other in zip(compiled, eager, strict=True):
        check(one, other)


def test_autocast():
    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.LayerNorm(64)).to("xpu")
    x = torch.randn(16, 64, device="xpu")
    with torch.autocast("xpu", dtype=torch.bfloat16):
        got, expected = torch.compile(model)(x), model(x)
    assert got.dtype == expected.dtype
    check(got.float(), expected.float(), 3e-2)


def test_checkpointing():
    model = nn.Sequential(nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 64)).to("xpu")
    checkpoint = torch.utils.checkpoint.checkpoint
    x = torch.randn(16, 64, device="xpu", requires_grad=True)
    torch.compile(lambda x: checkpoint(model, x, use_reentrant=False).sum())(x).backward()
    got, x.grad = x.grad, None
    model(x).sum().backward()
    check(got, x.grad)


def test_control_flow():
    compiled = torch.compile(lambda x: torch.cond(x.sum() > 0, torch.sin, torch.cos, (x,)))
    x = torch.ones(5, device="xpu")
    check(compiled(x), x.sin())
    check(compiled(-x), x.cos())
    from torch._higher_order_ops.while_loop import while_loop

    def powers(i, x):
        return while_loop(lambda i, x: i < 5, lambda i, x: (i + 1, x * 2), (i, x))

    _, got = torch.compile(powers)(torch.tensor(0, device="xpu"), x)
    check(got, x * 32)


def test_a_graph_break():
    def function(x):
        y = x.sin()
        return y + 1 if y.sum().item() > 0 else y - 1

    compare(function, torch.ones(5))
    compare(function, -torch.ones(5))


def test_sizes_that_values_give():
    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        compare(lambda x: torch.nonzero(x).float() * 2, torch.tensor([0, 1, 0, 2]), fullgraph=True)
    with torch._dynamo.config.patch(capture_scalar_outputs=True):

        def part(x, n):
            length = n.item()
            torch._check(length >= 0)
            torch._check(length <= x.shape[0])
            return x.narrow(0, 0, length) * 2

        compare(part, torch.randn(10), torch.tensor(4), fullgraph=True)


def test_a_custom_operator():
    @torch.library.custom_op("inductor_xpu_tests::twice", mutates_args=())
    def twice(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    @twice.register_fake
    def _(x):
        return torch.empty_like(x)

    compare(lambda x: twice(x.sin()) + 1, torch.randn(5))


def test_attention():
    q, k, v = (torch.randn(2, 4, 32, 16) for _ in range(3))
    compare(lambda q, k, v: F.scaled_dot_product_attention(q, k, v).sin(), q, k, v)
    compare(lambda q, k, v: torch.softmax(q @ k.transpose(-2, -1) / 4, -1) @ v, q, k, v)


def test_models():
    convolutions = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2))
    x = torch.randn(2, 3, 16, 16)
    on_xpu = copy.deepcopy(convolutions).to("xpu")
    check(torch.compile(on_xpu)(x.xpu()), convolutions(x), 1e-3)
    recurrent, x = nn.LSTM(8, 16), torch.randn(5, 2, 8)
    expected = recurrent(x)[0]
    check(torch.compile(recurrent.to("xpu"))(x.xpu())[0], expected)


def test_function_transforms():
    compare(
        lambda x: torch.vmap(torch.func.grad(lambda t: (t.sin() ** 2).sum()))(x), torch.randn(4, 5)
    )


def test_threads():
    failed = []

    def work(factor):
        try:
            x = torch.randn(9, device="xpu")
            check(torch.compile(lambda x: (x * factor).tanh())(x), (x * factor).tanh())
        except Exception as error:  # noqa: BLE001 - the test's thread reports it
            failed.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


def test_another_stream():
    stream, x = torch.xpu.Stream(), torch.randn(100_000, device="xpu")
    torch.xpu.synchronize()
    compiled = torch.compile(lambda x: x.sin() + 1)
    with torch.xpu.stream(stream):
        got = compiled(x)
    stream.synchronize()
    check(got, x.sin() + 1)


def test_capture_in_a_graph():
    compiled = torch.compile(lambda x: x.sin() + x.sum())
    x = torch.randn(1000, device="xpu")
    compiled(x)
    torch.xpu.synchronize()
    graph = torch.xpu.XPUGraph()
    with torch.xpu.graph(graph):
        y = compiled(x)
    x.fill_(2)
    graph.replay()
    check(y, x.sin() + x.sum())


def test_freezing():
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 14 * 14, 4))
    x = torch.randn(2, 3, 16, 16)
    expected = model.eval()(x)
    with torch.no_grad(), torch._inductor.config.patch(freezing=True):
        check(torch.compile(model.to("xpu"))(x.xpu()), expected, 1e-3)


def test_export_and_other_back_ends():
    model, x = nn.Linear(4, 3).to("xpu"), torch.ones(2, 4, device="xpu")
    check(torch.export.export(model, (x,)).module()(x), model(x))
    check(torch.compile(model, backend="aot_eager")(x), model(x))


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf")
def test_compiled_autograd():
    model, x = nn.Linear(8, 8).to("xpu"), torch.randn(4, 8, device="xpu")
    with torch._dynamo.compiled_autograd._enable(torch.compile):
        model(x).sin().sum().backward()
    got, model.weight.grad = model.weight.grad, None
    model(x).sin().sum().backward()
    check(got, model.weight.grad)


@pytest.mark.filterwarnings("ignore:Torchinductor does not support code generation for complex")
def test_what_stays_with_aten():
    def function(x):
        return (
            x.sort(1)[0] + 1,
            x.topk(3, 1)[0] * 2,
            x.median(1)[0],
            torch.fft.rfft(x).abs(),
            x.cumsum(1) * 2,
            torch.bucketize(x, torch.linspace(-1, 1, 7, device=x.device)),
        )

    compare(function, torch.randn(4, 33))


def test_reductions_that_are_split():
    x = torch.randn(3000, 500)

    def function(x):
        return x.sum(), x.amax(), x.std(), x.argmax(), x.mean(0), x.prod(1), x.norm()

    for got, expected in zip(torch.compile(function)(x.xpu()), function(x), strict=True):
        check(got, expected, 1e-3)


def test_disabling():
    @torch.compiler.disable
    def eager(x):
        return x.cos()

    compare(lambda x: eager(x.sin()) + 1, torch.randn(5))
    with torch.compiler.set_stance("force_eager"):
        compare(lambda x: x.sin() + 1, torch.randn(5))


def test_there_is_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        compare(lambda x: torch.softmax(x @ x, -1), torch.randn(64, 64))


def test_asserting_finite_numbers():
    with torch._inductor.config.patch(nan_asserts=True):
        compare(lambda x: x.sin().sum(1), torch.randn(5, 8))
        logarithm = torch.compile(lambda x: x.log().cos())
        with pytest.raises(AssertionError):
            logarithm(-torch.ones(5, device="xpu"))


def test_names_that_describe_nothing():
    with torch._inductor.config.patch({"triton.descriptive_names": False}):
        compare(lambda x: (x.sin().sum(0), x * 3), torch.randn(5, 8))


@pytest.mark.parametrize("name", ["combo_kernels", "benchmark_fusion", "benchmark_combo_kernel"])
def test_settings_that_are_off(name):
    """They join and measure kernels that Triton writes."""
    with torch._inductor.config.patch({name: True}):
        compare(lambda x: (x.sin().sum(0), x.cos(), x * 3), torch.randn(5, 8))


def test_an_associative_scan():
    from torch._higher_order_ops.associative_scan import associative_scan

    def combine(one, other):
        return one[0] * other[0], other[0] * one[1] + other[1]

    def scan(a, b):
        return associative_scan(combine, (a, b), 1, combine_mode="pointwise")[1]

    def loop(a, b):
        states = [b[:, 0]]
        for step in range(1, a.shape[1]):
            states.append(a[:, step] * states[-1] + b[:, step])
        return torch.stack(states, 1)

    a, b = (torch.randn(3, 7, 4, device="xpu", requires_grad=True) for _ in range(2))
    got, expected = torch.compile(scan)(a, b), loop(a, b)
    check(got, expected)
    gradients = (torch.autograd.grad(y.sin().sum(), (a, b)) for y in (got, expected))
    for one, other in zip(*gradients, strict=True):
        check(one, other)


def test_the_profiler_names_the_kernel():
    compiled, x = torch.compile(lambda x: x.sin() + 1), torch.ones(100, device="xpu")
    with torch.profiler.profile() as profile:
        compiled(x)
        torch.xpu.synchronize()
    assert any("sycl_fused_add_sin" in event.key for event in profile.key_averages())


def test_a_kernel_that_does_not_build(monkeypatch):
    from inductor_xpu.reader import operators

    x = torch.ones(7, device="xpu")
    with monkeypatch.context() as changed, torch._inductor.config.patch(fx_graph_cache=False):
        changed.setattr(operators, "_template", lambda *_: "no_such_function({0})")
        with pytest.raises(Exception, match="no_such_function"):
            torch.compile(lambda x: x.sin() * 1.25)(x)
    torch._dynamo.reset()
    check(torch.compile(lambda x: x.sin() * 1.25)(x), x.sin() * 1.25)
