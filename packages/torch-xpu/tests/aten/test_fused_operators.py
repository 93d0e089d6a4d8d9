"""Products and convolutions with steps after them: torch_xpu's operators, and PyTorch's of mkldnn."""

import pytest
import torch
import torch.nn.functional as F
from xpu_testing.torch_values import TOLERANCES

FLOATS = [torch.float32, torch.bfloat16, torch.float16]
fused_gemm = torch.ops.torch_xpu.fused_gemm
mkldnn = torch.ops.mkldnn

UNARY = {
    "relu": (F.relu, 0, 0),
    "gelu_erf": (F.gelu, 0, 0),
    "gelu_tanh": (lambda x: F.gelu(x, approximate="tanh"), 0, 0),
    "silu": (F.silu, 0, 0),
    "tanh": (torch.tanh, 0, 0),
    "sigmoid": (torch.sigmoid, 0, 0),
    "abs": (torch.abs, 0, 0),
    "square": (torch.square, 0, 0),
    "elu": (lambda x: F.elu(x, 1.5), 1.5, 0),
    "clip": (lambda x: x.clamp(-0.5, 0.75), -0.5, 0.75),
    "linear": (lambda x: x * 0.5 + 2, 0.5, 2),
    "hardswish": (F.hardswish, 1 / 6, 0.5),
}
BINARY = {"add": torch.add, "sub": torch.sub, "mul": torch.mul, "div": torch.div}


def some(dtype, *shape):
    return torch.randn(shape).to(dtype)


def check(got, expected, dtype):
    """The expected result was computed in f32."""
    assert (got.dtype, got.device.type) == (dtype, "xpu")
    relative, absolute = TOLERANCES[dtype]
    torch.testing.assert_close(got.cpu().float(), expected, rtol=relative, atol=10 * absolute)


@pytest.mark.values
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("name", UNARY)
def test_unary_steps(name, dtype):
    torch.manual_seed(0)
    function, *factors = UNARY[name]
    a, b, bias = some(dtype, 7, 20), some(dtype, 30, 20) / 4, some(dtype, 30)
    got = fused_gemm(a.xpu(), b.xpu().t(), bias.xpu(), [name], factors, [])
    check(got, function(F.linear(a.float(), b.float(), bias.float())), dtype)


@pytest.mark.values
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("shape", [(5, 7, 9), (7, 9), (9,), (5, 1, 1), (1, 7, 1), ()], ids=str)
def test_binary_steps(name, shape, dtype):
    torch.manual_seed(0)
    a, b, operand = some(dtype, 5, 7, 20), some(dtype, 5, 20, 9) / 4, some(dtype, *shape).abs() + 1
    got = fused_gemm(a.xpu(), b.xpu(), None, [name], [0, 0], [operand.xpu()])
    check(got, BINARY[name](torch.bmm(a.float(), b.float()), operand.float()), dtype)


@pytest.mark.values
def test_several_steps_in_order():
    a, b, first, second = (some(torch.float32, *s) for s in ((6, 8), (8, 10), (6, 10), (10,)))
    arguments = ["silu", "mul", "linear", "add"], [0, 0, 0, 0, 2, 1, 0, 0]
    got = fused_gemm(a.xpu(), b.xpu(), None, *arguments, [first.xpu(), second.xpu()])
    check(got, (F.silu(a @ b) * first) * 2 + 1 + second, torch.float32)


@pytest.mark.values
def test_operands_with_any_strides():
    a, b, operand = (
        some(torch.float32, 16, 6),
        some(torch.float32, 16, 10),
        some(torch.float32, 10, 12),
    )
    a_, b_, c_ = a.xpu()[::2].t(), b.xpu()[::2], operand.xpu()[:, ::2].t()
    got = fused_gemm(a_, b_, None, ["add"], [0, 0], [c_])
    check(got, a[::2].t() @ b[::2] + operand[:, ::2].t(), torch.float32)


@pytest.mark.values
def test_broadcast_operands_in_another_order():
    a, b, operand = (
        some(torch.float32, 4, 6, 8),
        some(torch.float32, 4, 8, 10),
        torch.rand(10, 1, 4),
    )
    got = fused_gemm(a.xpu(), b.xpu(), None, ["add"], [0, 0], [operand.xpu().permute(2, 1, 0)])
    check(got, a @ b + operand.permute(2, 1, 0), torch.float32)
    x, w, operand = torch.rand(3, 8, 5, 5), torch.rand(16, 8, 3, 3), torch.rand(16, 3)
    on_xpu = (t.xpu().to(memory_format=torch.channels_last) for t in (x, w))
    sizes = [1, 1], [1, 1], [1, 1], False, [0, 0], 1
    got = torch.ops.torch_xpu.fused_convolution(
        *on_xpu, None, *sizes, ["add"], [0, 0], [operand.xpu().t()[..., None, None]]
    )
    check(got, F.conv2d(x, w, padding=1) + operand.t()[..., None, None], torch.float32)


@pytest.mark.values
@pytest.mark.parametrize("sizes", [(0, 4, 5), (3, 0, 5), (3, 4, 0)], ids=str)
def test_sizes_of_zero(sizes):
    m, k, n = sizes
    a, b, bias = torch.ones(m, k), torch.ones(k, n), torch.ones(n)
    got = fused_gemm(a.xpu(), b.xpu(), bias.xpu(), ["linear"], [2, 1], [])
    check(got, (a @ b + bias) * 2 + 1, torch.float32)


ERRORS = {
    "unknown step 'soft'": (["soft"], [0, 0], 0),
    "two factors for each of 1 steps, got 1": (["relu"], [0], 0),
    "the step 'add' has no operand": (["add"], [0, 0], 0),
    "expected 0 operands, got 1": (["relu"], [0, 0], 1),
}


@pytest.mark.parametrize("message", ERRORS)
def test_arguments_that_do_not_fit(message):
    steps, factors, operands = ERRORS[message]
    a = torch.ones(2, 2, device="xpu")
    with pytest.raises(RuntimeError, match=message):
        fused_gemm(a, a, None, steps, factors, [a] * operands)


def test_shapes_dtypes_and_devices_that_do_not_fit():
    a = torch.ones(2, 3, device="xpu")
    with pytest.raises(RuntimeError, match="cannot be multiplied"):
        fused_gemm(a, a, None, [], [], [])
    with pytest.raises(RuntimeError, match="same dtype"):
        fused_gemm(a, a.t().half(), None, [], [], [])
    with pytest.raises(RuntimeError, match="same device"):
        fused_gemm(a, a.t(), None, ["add"], [0, 0], [torch.ones(2)])
    with pytest.raises(RuntimeError, match="expanded size"):
        fused_gemm(a, a.t(), None, ["add"], [0, 0], [torch.ones(5, device="xpu")])
    with pytest.raises(RuntimeError, match="steps after a product of Double"):
        fused_gemm(a.double(), a.t().double(), None, ["relu"], [0, 0], [])


# An attribute of mkldnn's operators, its scalars, its algorithm, and the function.
ATTRIBUTES = {
    "none": ([], None, lambda x: x),
    "relu": ([], None, F.relu),
    "sigmoid": ([], None, torch.sigmoid),
    "tanh": ([], None, torch.tanh),
    "swish": ([], None, F.silu),
    "hardswish": ([], None, F.hardswish),
    "hardsigmoid": ([], None, F.hardsigmoid),
    "leaky_relu": ([0.2], None, lambda x: F.leaky_relu(x, 0.2)),
    "hardtanh": ([-0.5, 0.7], None, lambda x: F.hardtanh(x, -0.5, 0.7)),
    "gelu": ([], "tanh", lambda x: F.gelu(x, approximate="tanh")),
}


@pytest.mark.values
@pytest.mark.parametrize("attribute", ATTRIBUTES)
def test_mkldnn_activations(attribute):
    torch.manual_seed(0)
    scalars, algorithm, function = ATTRIBUTES[attribute]
    x, w, b = some(torch.float32, 2, 3, 20), some(torch.float32, 8, 20), some(torch.float32, 8)
    got = mkldnn._linear_pointwise(x.xpu(), w.xpu(), b.xpu(), attribute, scalars, algorithm)
    check(got, function(F.linear(x, w, b)), torch.float32)
    x, w = some(torch.float32, 2, 4, 9, 9), some(torch.float32, 8, 2, 3, 3)
    sizes = [1, 1], [2, 2], [1, 1], 2
    got = mkldnn._convolution_pointwise(
        x.xpu(), w.xpu(), b.xpu(), *sizes, attribute, scalars, algorithm
    )
    check(got, function(F.conv2d(x, w, b, 2, 1, 1, 2)), torch.float32)


@pytest.mark.values
@pytest.mark.parametrize("name", BINARY)
def test_mkldnn_binary_steps(name):
    x, w, y = (
        some(torch.float32, 2, 3, 20),
        some(torch.float32, 8, 20),
        some(torch.float32, 2, 3, 8),
    )
    got = mkldnn._linear_pointwise.binary(x.xpu(), y.xpu(), w.xpu(), None, name)
    check(got, BINARY[name](F.linear(x, w), y), torch.float32)
    x, w, y = (
        some(torch.float32, 2, 4, 9, 9),
        some(torch.float32, 8, 4, 3, 3),
        torch.rand(2, 8, 9, 9) + 1,
    )
    sizes = [1, 1], [1, 1], [1, 1], 1
    tail = name, None, "relu", [], None
    got = mkldnn._convolution_pointwise.binary(x.xpu(), y.xpu(), w.xpu(), None, *sizes, *tail)
    check(got, F.relu(BINARY[name](F.conv2d(x, w, padding=1), y)), torch.float32)


@pytest.mark.values
@pytest.mark.parametrize("layout", [torch.contiguous_format, torch.channels_last], ids=str)
def test_mkldnn_sum_in_place(layout):
    x, w, y = (
        some(torch.float32, 2, 4, 9, 9),
        some(torch.float32, 8, 4, 3, 3),
        torch.rand(2, 8, 9, 9),
    )
    target = y.xpu().to(memory_format=layout)
    sizes = [1, 1], [1, 1], [1, 1], 1
    returned = mkldnn._convolution_pointwise_.binary(
        target, x.xpu(), w.xpu(), None, *sizes, "add", 1, "relu", [], None
    )
    assert returned.data_ptr() == target.data_ptr()
    check(target, F.relu(F.conv2d(x, w, padding=1) + y), torch.float32)
    with pytest.raises(RuntimeError, match="expected a result of shape"):
        mkldnn._convolution_pointwise_.binary(
            target[:1], x.xpu(), w.xpu(), None, *sizes, "add", 1, None, [], None
        )


@pytest.mark.values
@pytest.mark.parametrize("groups", [1, 2])
def test_mkldnn_transposed_convolution(groups):
    x, w, b = (
        some(torch.float32, 2, 4, 5, 5),
        some(torch.float32, 4, 6 // groups, 3, 3),
        torch.rand(6),
    )
    sizes = [1, 1], [1, 1], [2, 2], [1, 1], groups
    reordered = mkldnn._reorder_convolution_transpose_weight(w.xpu(), *sizes)
    got = mkldnn._convolution_transpose_pointwise(
        x.xpu(), reordered, b.xpu(), *sizes, "relu", [], None
    )
    expected = F.relu(F.conv_transpose2d(x, w, b, 2, 1, 1, groups))
    check(got, expected, torch.float32)


def test_mkldnn_names_that_do_not_exist():
    x = torch.ones(2, 2, device="xpu")
    with pytest.raises(RuntimeError, match="unknown activation 'soft'"):
        mkldnn._linear_pointwise(x, x, None, "soft", [], None)
    with pytest.raises(RuntimeError, match="'leaky_relu' expects 1 scalars"):
        mkldnn._linear_pointwise(x, x, None, "leaky_relu", [], None)
    with pytest.raises(RuntimeError, match="unknown binary step 'max'"):
        mkldnn._linear_pointwise.binary(x, x, x, None, "max")


GEOMETRIES = {
    "stride of at least 1": {"stride": [0, 1]},
    "dilation of at least 1": {"dilation": [0, 0]},
    "padding of at least 0": {"padding": [-1, 0]},
    "1 or 2 numbers of stride": {"stride": [1, 1, 1]},
    "positive number of groups": {"groups": 0},
    "expected input of 6 channels, got 3": {"groups": 2},
}


@pytest.mark.parametrize("message", GEOMETRIES)
def test_geometries_that_do_not_fit(message):
    x, w = torch.ones(2, 3, 8, 8, device="xpu"), torch.ones(4, 3, 3, 3, device="xpu")
    sizes = {"stride": [1, 1], "padding": [0, 0], "dilation": [1, 1], "groups": 1}
    stride, padding, dilation, groups = (sizes | GEOMETRIES[message]).values()
    with pytest.raises(RuntimeError, match=message):
        torch.ops.torch_xpu.fused_convolution(
            x, w, None, stride, padding, dilation, False, [0, 0], groups, [], [], []
        )
    with pytest.raises(RuntimeError, match=message):
        mkldnn._convolution_pointwise(x, w, None, padding, stride, dilation, groups, "none", [], "")


def test_dimensions_that_do_not_fit():
    sizes = [1, 1], [0, 0], [1, 1], False, [0, 0], 1, [], [], []
    for x, w in (((2, 3, 8, 8), (4, 3, 3)), ((3, 8), (3, 8)), ((1,) * 13, (1,) * 13)):
        with pytest.raises(RuntimeError, match="equally many dimensions, 3 to 5"):
            torch.ops.torch_xpu.fused_convolution(
                torch.ones(x, device="xpu"), torch.ones(w, device="xpu"), None, *sizes
            )
