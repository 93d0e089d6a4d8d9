"""Products and convolutions take the steps after them, if that saves a pass over memory."""

import pytest
import torch
import torch.nn.functional as F
import xpu_runtime
from torch._inductor.utils import run_and_get_code
from xpu_testing.torch_values import TOLERANCES

import inductor_xpu.settings

pytestmark = [
    pytest.mark.values,
    # What Inductor imports warns about itself.
    pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning"),
]

FLOATS = [torch.float32, torch.bfloat16, torch.float16]
ACTIVATIONS = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu by tanh": lambda x: F.gelu(x, approximate="tanh"),
    "silu": F.silu,
    "silu by hand": lambda x: x * torch.sigmoid(x),
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
    "hardswish": F.hardswish,
    "leaky_relu": lambda x: F.leaky_relu(x, 0.1),
    "elu": lambda x: F.elu(x, 1.5),
    "elu with the factor 1": F.elu,
    "square": lambda x: x * x,
    "squared relu": lambda x: F.relu(x).square(),
    "a factor": lambda x: x * 0.3,
    "a divisor": lambda x: x / 8,
    "a summand": lambda x: x + 2,
}


@pytest.fixture(autouse=True)
def _fuse_on_every_device():
    torch._dynamo.reset()
    torch.manual_seed(0)
    with inductor_xpu.settings.patch(post_ops=True):
        yield
    torch._dynamo.reset()


def some(dtype, *shape):
    return torch.randn(shape, device="xpu").to(dtype)


def compile_and_compare(function, *inputs, **options):
    """Return the text of the compiled call; its result is that of eager mode."""
    with torch.no_grad():
        expected = function(*inputs)
        got, (code,) = run_and_get_code(torch.compile(function, **options), *inputs)
    relative, absolute = TOLERANCES[expected.dtype]
    torch.testing.assert_close(got, expected, rtol=4 * relative, atol=10 * absolute)
    assert got.stride() == expected.stride()
    return code.split("def call", 1)[1]


def is_only_fused(code):
    return "torch_xpu.fused_gemm" in code and "sycl_fused" not in code


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations_after_products(name, dtype):
    x, w, b = some(dtype, 6, 32), some(dtype, 48, 32) / 4, some(dtype, 48)
    assert is_only_fused(
        compile_and_compare(lambda x, w, b: ACTIVATIONS[name](F.linear(x, w, b)), x, w, b)
    )


@pytest.mark.parametrize("name", ["relu", "gelu", "hardswish", "squared relu"])
def test_activations_after_convolutions(name):
    x, w, b = (
        some(torch.float32, 2, 4, 9, 9),
        some(torch.float32, 8, 4, 3, 3),
        some(torch.float32, 8),
    )
    x, w = (t.to(memory_format=torch.channels_last) for t in (x, w))
    code = compile_and_compare(lambda x, w, b: ACTIVATIONS[name](F.conv2d(x, w, b)), x, w, b)
    assert "torch_xpu.fused_convolution" in code
    assert "sycl_fused" not in code


CONVOLUTIONS = {
    "groups": lambda x, w, b: F.relu(F.conv2d(x, w[:, :2], b, 2, 1, 1, 2)),
    "transposed": lambda x, w, b: F.relu(F.conv_transpose2d(x, w.transpose(0, 1), b, 2, 1, 1)),
    "added": lambda x, w, b: F.relu(
        F.conv2d(x, w, b, padding=1) + x.repeat(1, 2, 1, 1).exp().sin()
    ),
    "a bias alone": lambda x, w, b: F.conv2d(x, w, b),
    "one dimension": lambda x, w, b: F.gelu(F.conv1d(x[:, :, 0], w[:, :, 0], b)),
    "three dimensions": lambda x, w, b: F.gelu(F.conv3d(x.unsqueeze(2), w.unsqueeze(2), b)),
}


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolutions(name, dynamic):
    x, w, b = (
        some(torch.float32, 2, 4, 9, 9),
        some(torch.float32, 8, 4, 3, 3),
        some(torch.float32, 8),
    )
    code = compile_and_compare(CONVOLUTIONS[name], x, w, b, dynamic=dynamic)
    assert "torch_xpu.fused_convolution" in code


def test_a_residual_and_a_gate():
    x, w, v = (
        some(torch.float32, 2, 5, 32),
        some(torch.float32, 32, 32),
        some(torch.float32, 32, 32),
    )
    assert is_only_fused(compile_and_compare(lambda x, w: F.linear(x, w) + x, x, w))
    assert is_only_fused(compile_and_compare(lambda x, w: x + F.linear(x, w), x, w))
    code = compile_and_compare(lambda x, w, v: F.silu(F.linear(x, w)) * F.linear(x, v), x, w, v)
    assert is_only_fused(code)


def test_batched_products():
    q, k, mask = (
        some(torch.float32, 3, 5, 8),
        some(torch.float32, 3, 8, 7),
        some(torch.float32, 5, 7),
    )
    assert is_only_fused(compile_and_compare(lambda q, k, m: q @ k * 0.5 + m, q, k, mask))


def test_dynamic_sizes():
    linear = torch.nn.Linear(32, 48, device="xpu")
    compiled = torch.compile(lambda x: F.gelu(linear(x)), dynamic=True)
    for rows in (3, 7, 1):
        x = some(torch.float32, 2, rows, 32)
        torch.testing.assert_close(compiled(x), F.gelu(linear(x)), rtol=1e-4, atol=1e-4)


def test_sizes_that_data_decide():
    def chosen(x, w, bias):
        rows = x[x[:, 0] > 0]
        return F.gelu(rows @ w + bias).view(1, -1, 48) + bias

    x, w, bias = some(torch.float32, 16, 32), some(torch.float32, 32, 48), some(torch.float32, 48)
    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        code = compile_and_compare(chosen, x, w, bias, fullgraph=True)
    assert "torch_xpu.fused_gemm" in code


NOT_FUSED = {
    "another reads the product": lambda x, w: F.gelu(y := x @ w) @ y,
    "another reads a part": lambda x, w: F.gelu(y := x @ w) * torch.erf(y * 0.7071067811865476),
    "a kernel reads the result": lambda x, w: F.relu(x @ w).exp().cos(),
    "an operand of a kernel": lambda x, w: (x @ w) + x.exp().cos(),
    "a clamp, which loses NaN": lambda x, w: (x @ w).clamp(-1, 1),
    "a wider type": lambda x, w: (x.bfloat16() @ w.bfloat16()).float() + 1,
    "doubles": lambda x, w: F.relu(x.double() @ w.double()).float(),
}


@pytest.mark.parametrize("name", NOT_FUSED)
def test_what_is_not_fused(name):
    x, w = some(torch.float32, 8, 8), some(torch.float32, 8, 8)
    assert "torch_xpu.fused_gemm" not in compile_and_compare(NOT_FUSED[name], x, w)


@pytest.mark.parametrize("name", ["relu", "leaky_relu", "gelu", "hardswish", "elu"])
def test_not_a_number_stays(name):
    x, w = some(torch.float32, 4, 8), some(torch.float32, 8, 8)
    x[1, 0] = torch.nan
    function = ACTIVATIONS[name]
    got = torch.compile(lambda x, w: function(x @ w))(x, w)
    torch.testing.assert_close(got, function(x @ w), equal_nan=True)


def test_an_infinite_factor():
    x, w = some(torch.bfloat16, 4, 8), some(torch.bfloat16, 8, 8)
    x[0] = 0
    got = torch.compile(lambda x, w: x @ w * float("inf"))(x, w)
    torch.testing.assert_close(got, x @ w * float("inf"), equal_nan=True)


@pytest.mark.parametrize("divisor", [1e-40, -3e-39, 3e38, 0.0, float("inf")])
def test_divisors_whose_reciprocal_f32_does_not_hold(divisor):
    x, w = (
        some(torch.float32, 8, 8).abs(),
        some(torch.float32, 8, 8).abs(),
    )  # sums without cancellation
    x[0] = 0
    for function in (lambda x, w: x / divisor, lambda x, w: x @ w / divisor):
        got = torch.compile(function)(x, w)
        torch.testing.assert_close(got.cpu(), function(x.cpu(), w.cpu()), equal_nan=True)


def test_setting():
    x, w = some(torch.float32, 8, 8), some(torch.float32, 8, 8)
    with inductor_xpu.settings.patch(post_ops=False):
        assert "torch_xpu.fused_gemm" not in compile_and_compare(lambda x, w: F.relu(x @ w), x, w)
    torch._dynamo.reset()
    with torch._inductor.config.patch(emulate_precision_casts=True):
        assert "torch_xpu.fused_gemm" not in compile_and_compare(lambda x, w: F.relu(x @ w), x, w)


@pytest.mark.parametrize("name", ["gelu", "relu"])
def test_a_cpu_takes_what_is_faster_there(name):
    x, w, v = (
        some(torch.float32, 2, 4, 9, 9),
        some(torch.float32, 8, 4, 3, 3),
        some(torch.float32, 9, 8),
    )
    is_cpu = xpu_runtime.devices()[0].type == "cpu"
    activation = ACTIVATIONS[name]
    with inductor_xpu.settings.patch(post_ops=None):
        code = compile_and_compare(lambda x, w: activation(F.conv2d(x, w)), x, w)
        assert ("torch_xpu.fused_convolution" in code) is (name == "gelu" or not is_cpu)
        torch._dynamo.reset()
        code = compile_and_compare(lambda x, v: activation(x[0, 0] @ v), x, v)
        assert ("torch_xpu.fused_gemm" in code) is not is_cpu


def test_training_keeps_what_backward_reads():
    linear = torch.nn.Linear(16, 16, device="xpu")
    x = some(torch.float32, 4, 16)

    def loss(x):
        return F.gelu(linear(x)).square().sum() + F.relu(linear(x)).sum()

    for function in (loss, torch.compile(loss)):
        linear.zero_grad()
        function(x).backward()
        gradient = linear.weight.grad.clone()
        if function is loss:
            expected = gradient
    torch.testing.assert_close(gradient, expected, rtol=1e-4, atol=1e-4)


def test_a_frozen_network_calls_no_operator_of_the_host():
    network = torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 3, bias=False),
        torch.nn.BatchNorm2d(8),
        torch.nn.ReLU(),
        torch.nn.Conv2d(8, 8, 1),
        torch.nn.Hardswish(),
    )
    network = network.eval().to("xpu")
    x = some(torch.float32, 2, 3, 9, 9)
    with torch._inductor.config.patch(freezing=True):
        code = compile_and_compare(network, x)
    assert code.count("torch.ops.torch_xpu.fused_convolution.default(") == 2
