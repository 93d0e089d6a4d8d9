"""Quantized linear layers and convolutions, ``torch.ops.onednn.q*``, beside those of the CPU."""

import gc

import pytest
import torch
import xpu_runtime.trace

ops = torch.ops.onednn
X_SCALE, X_ZERO, OUT_SCALE, OUT_ZERO = 0.02, 117, 0.6, 9
ACTIVATIONS = {
    "none": [],
    "relu": [],
    "hardtanh": [-1.0, 3.0],
    "hardswish": [],
    "swish": [],
    "gelu": [],
}
RESULTS = [torch.float32, torch.bfloat16, torch.uint8, torch.int8]


def integers(generator, dtype, *shape):
    info = torch.iinfo(dtype)
    return torch.randint(info.min, info.max + 1, shape, dtype=dtype, generator=generator)


def weight_of(generator, *shape, per_channel=True):
    """Return a weight, its scales and its zero points."""
    count = shape[0] if per_channel else 1
    scales = torch.rand(count, generator=generator) * 0.02 + 0.001
    return integers(generator, torch.int8, *shape), scales, torch.zeros(count, dtype=torch.int64)


def result_arguments(dtype):
    return (OUT_SCALE, OUT_ZERO, dtype) if not dtype.is_floating_point else (1.0, 0, dtype)


def on_xpu(arguments):
    return [x.xpu() if isinstance(x, torch.Tensor) else x for x in arguments]


def assert_results(got, expected):
    """Integers may be rounded to the neighbor."""
    assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
    got, expected = got.cpu(), expected.to_dense() if expected.is_mkldnn else expected
    if got.dtype.is_floating_point:
        tolerance = 1e-2 if got.dtype == torch.bfloat16 else 2e-5
        size = expected.float().abs().max().item()
        torch.testing.assert_close(got, expected, rtol=tolerance, atol=tolerance * max(size, 1))
        return
    difference = (got.int() - expected.int()).abs()
    assert difference.max() <= 1
    assert (difference > 0).float().mean() < 0.01


def linear_operands(dtype, result, per_channel=True, bias=True, shape=(5, 7, 33), n=21):
    generator = torch.Generator().manual_seed(0)
    x = integers(generator, dtype, *shape)
    weight, scales, zeros = weight_of(generator, n, shape[-1], per_channel=per_channel)
    addend = torch.randn(n, generator=generator) if bias else None
    return x, weight, (scales, zeros, addend), result_arguments(result), generator


def linear(name, x, weight, arguments, device):
    packed = ops.qlinear_prepack(weight.to(device), list(x.shape))
    operator = getattr(ops.qlinear_pointwise, name)
    arguments = on_xpu(arguments) if device == "xpu" else arguments
    scale, zero = X_SCALE, X_ZERO
    if "tensor" in name:
        scale, zero = torch.tensor(scale, device=device), torch.tensor(zero, device=device).int()
    return operator(x.to(device), scale, zero, packed, *arguments)


@pytest.mark.values
@pytest.mark.parametrize("name", ["default", "tensor"])
@pytest.mark.parametrize("result", RESULTS, ids=str)
@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8])
def test_linear(dtype, result, name):
    for per_channel, bias in ((True, True), (False, False)):
        x, weight, parameters, outcome, _ = linear_operands(dtype, result, per_channel, bias)
        arguments = (*parameters, *outcome, "none", [], "")
        got, expected = (linear(name, x, weight, arguments, device) for device in ("xpu", "cpu"))
        assert_results(got, expected)


@pytest.mark.values
@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("result", [torch.float32, torch.uint8], ids=str)
def test_activation_of_a_linear_layer(result, activation):
    x, weight, parameters, outcome, _ = linear_operands(torch.uint8, result)
    for algorithm in ("none", "tanh") if activation == "gelu" else ("",):
        arguments = (*parameters, *outcome, activation, ACTIVATIONS[activation], algorithm)
        got, expected = (
            linear("default", x, weight, arguments, device) for device in ("xpu", "cpu")
        )
        assert_results(got, expected)


@pytest.mark.values
@pytest.mark.parametrize("activation", ["none", "relu"])
@pytest.mark.parametrize(
    ("step", "summand", "result"),
    [
        ("sum", torch.float32, torch.float32),
        ("sum", torch.bfloat16, torch.bfloat16),
        ("sum", torch.uint8, torch.uint8),
        ("add", torch.float32, torch.uint8),
        ("add", torch.bfloat16, torch.int8),
        ("add", torch.float32, torch.float32),
    ],
    ids=str,
)
def test_sum_with_a_linear_layer(step, summand, result, activation):
    x, weight, (scales, zeros, bias), outcome, generator = linear_operands(torch.uint8, result)
    shape = (*x.shape[:-1], weight.shape[0])
    if summand == torch.uint8:
        other, parameters = integers(generator, summand, *shape), (0.3, 128)
    else:
        other, parameters = torch.randn(shape, generator=generator).to(summand), (1.0, 0)
    for name in ("binary", "binary_tensor"):
        results = []
        for device in ("xpu", "cpu"):
            mine = other.to(device, copy=True)
            arguments = (
                scales,
                zeros,
                mine,
                bias,
                *outcome,
                *parameters,
                step,
                1.0,
                activation,
                [],
                "",
            )
            results.append(linear(name, x, weight, arguments, device))
            assert (results[-1].data_ptr() == mine.data_ptr()) == (step == "sum")
        assert_results(*results)


@pytest.mark.values
def test_summands_of_any_strides():
    x, weight, (scales, zeros, bias), outcome, generator = linear_operands(
        torch.uint8, torch.float32, shape=(6, 40), n=24
    )
    other = torch.randn(24, 6, generator=generator).t()
    for step in ("sum", "add"):
        results = []
        for device in ("xpu", "cpu"):
            mine = other.to(device, copy=True)
            mine = mine if device == "xpu" else mine.contiguous()
            arguments = (scales, zeros, mine, bias, *outcome, 1.0, 0, step, 1.0, "relu", [], "")
            results.append(linear("binary", x, weight, arguments, device))
        assert_results(*results)


CONVOLUTIONS = {
    "plain": ((2, 8, 9, 11), (12, 8, 3, 3), (1, 1), (0, 0), (1, 1), 1),
    "strided": ((2, 3, 17, 16), (16, 3, 5, 5), (2, 2), (2, 2), (1, 1), 1),
    "dilated": ((1, 16, 12, 12), (8, 16, 3, 3), (1, 1), (2, 2), (2, 2), 1),
    "groups": ((2, 12, 8, 8), (24, 4, 3, 3), (1, 1), (1, 1), (1, 1), 3),
    "depthwise": ((2, 32, 10, 10), (32, 1, 3, 3), (1, 1), (1, 1), (1, 1), 32),
    "1x1": ((3, 32, 7, 7), (40, 32, 1, 1), (1, 1), (0, 0), (1, 1), 1),
    "1d": ((2, 6, 20), (10, 6, 3), (1,), (1,), (1,), 1),
}


def convolution(
    operator, x, weight, scales, zeros, geometry, device, summand=(), after=(), tensors=False
):
    stride, padding, dilation, groups = geometry
    scale, zero = X_SCALE, X_ZERO
    if device == "cpu" and x.dtype == torch.int8:
        # The CPU's operator takes no signed numbers.
        x, zero = (x.int() + 128).to(torch.uint8), zero + 128
    if tensors:
        scale, zero = torch.tensor(scale, device=device), torch.tensor(zero, device=device).int()
    shape = list(x.shape)
    packed = ops.qconv_prepack(
        weight.to(device),
        scales.to(device),
        X_SCALE,
        X_ZERO,
        stride,
        padding,
        dilation,
        groups,
        shape,
    )
    parameters = [scales, zeros, *summand]
    parameters = on_xpu(parameters) if device == "xpu" else parameters
    return operator(x.to(device), scale, zero, packed, *parameters, *geometry, *after)


def channels_last(x):
    return x.to(memory_format=torch.channels_last) if x.dim() == 4 else x


@pytest.mark.values
@pytest.mark.parametrize("shapes", CONVOLUTIONS.values(), ids=CONVOLUTIONS)
@pytest.mark.parametrize("result", [torch.float32, torch.uint8, torch.int8], ids=str)
def test_convolution(result, shapes):
    generator = torch.Generator().manual_seed(1)
    x_shape, w_shape, *geometry = shapes
    weight, scales, zeros = weight_of(generator, *w_shape)
    bias = torch.randn(w_shape[0], generator=generator)
    after = (*result_arguments(result), "relu", [], "")
    for tensors, dtype in ((False, torch.uint8), (True, torch.int8)):
        x = channels_last(integers(generator, dtype, *x_shape))
        operator = ops.qconv_pointwise.tensor if tensors else ops.qconv_pointwise.default
        got, expected = (
            convolution(
                operator,
                x,
                weight,
                scales,
                zeros,
                geometry,
                device,
                (bias.to(device),),
                after,
                tensors,
            )
            for device in ("xpu", "cpu")
        )
        assert_results(got, expected)


@pytest.mark.values
@pytest.mark.parametrize("shapes", CONVOLUTIONS.values(), ids=CONVOLUTIONS)
@pytest.mark.parametrize("result", [torch.float32, torch.uint8, torch.int8], ids=str)
def test_convolution_without_zero_points(result, shapes):
    """Results are rounded as with one; oneDNN has more implementations then."""
    generator = torch.Generator().manual_seed(3)
    x_shape, w_shape, *geometry = shapes
    weight, scales, zeros = weight_of(generator, *w_shape)
    x = channels_last(integers(generator, torch.uint8, *x_shape))
    scale = 1.0 if result.is_floating_point else 40.0
    packed = ops.qconv_prepack(weight.xpu(), scales, 1.0, 0, *geometry, list(x_shape))
    common = (packed, *on_xpu((scales, zeros, None)), *geometry, scale, 0, result, "none", [], "")
    x, one = x.xpu(), torch.tensor(0.02, device="xpu")
    none = torch.empty(0, dtype=torch.int32, device="xpu")
    by_number = ops.qconv_pointwise.default(x, 0.02, 0, *common)
    by_tensor = ops.qconv_pointwise.tensor(x, one, none, *common)
    assert torch.equal(by_number, by_tensor)
    by_zero = ops.qconv_pointwise.tensor(x, one, torch.zeros_like(one).int(), *common)
    assert_results(by_tensor, by_zero.cpu())


@pytest.mark.values
@pytest.mark.parametrize("activation", ["none", "relu"])
@pytest.mark.parametrize("result", [torch.float32, torch.uint8, torch.int8], ids=str)
def test_sum_with_a_convolution(result, activation):
    generator = torch.Generator().manual_seed(2)
    x_shape, w_shape, *geometry = CONVOLUTIONS["groups"]
    x = channels_last(integers(generator, torch.uint8, *x_shape))
    weight, scales, zeros = weight_of(generator, *w_shape)
    shape = (2, 24, 8, 8)
    if result.is_floating_point:
        summand, parameters = torch.randn(shape, generator=generator), (1.0, 0)
    else:
        summand, parameters = integers(generator, result, *shape), (0.3, 5)
    after = (*result_arguments(result), *parameters, "sum", 1.0, activation, [], "")
    for tensors in (False, True):
        results = []
        for device in ("xpu", "cpu"):
            mine = channels_last(summand.to(device, copy=True))
            operator = (
                ops.qconv2d_pointwise.binary_tensor if tensors else ops.qconv2d_pointwise.binary
            )
            results.append(
                convolution(
                    operator,
                    x,
                    weight,
                    scales,
                    zeros,
                    geometry,
                    device,
                    (mine, None),
                    after,
                    tensors,
                )
            )
            assert device == "cpu" or results[-1].data_ptr() == mine.data_ptr()
        assert_results(*results)


def test_empty_inputs_have_empty_results():
    x, weight, parameters, outcome, _ = linear_operands(torch.uint8, torch.uint8, shape=(0, 33))
    got = linear("default", x, weight, (*parameters, *outcome, "relu", [], ""), "xpu")
    assert (got.shape, got.dtype) == ((0, 21), torch.uint8)


def primitives(work):
    """Return how many primitives of oneDNN a function runs."""
    xpu_runtime.trace.start()
    try:
        work()
        torch.xpu.synchronize()
    finally:
        records = xpu_runtime.trace.stop()
    return sum(str(record.name).startswith("onednn ") for record in records)


@pytest.mark.values
def test_weights_are_packed_once_and_freed_with_their_memory():
    x, weight, parameters, outcome, _ = linear_operands(
        torch.uint8, torch.float32, shape=(64, 512), n=768
    )
    x, arguments = x.xpu(), on_xpu((*parameters, *outcome, "none", [], ""))
    gc.collect()
    packed = ops.qlinear_prepack(weight.xpu(), None)
    before = torch.xpu.memory_allocated()

    def multiply():
        ops.qlinear_pointwise(x, X_SCALE, X_ZERO, packed, *arguments)

    first = primitives(multiply)
    after = torch.xpu.memory_allocated()
    later = primitives(multiply)
    assert torch.xpu.memory_allocated() == after
    if not any(
        line.startswith("onednn ") and line.endswith("used") for line in xpu_runtime.dnn.explain()
    ):
        pytest.skip("this backend has no oneDNN, which wants its own layout")
    assert (first, later) == (2, 1)  # the first packs
    assert after - before >= weight.numel()
    # A copy of the weight has no packed form, and is multiplied as it is.
    copied = packed.t().clone().t()
    expected = ops.qlinear_pointwise(x, X_SCALE, X_ZERO, packed, *arguments)
    torch.testing.assert_close(
        ops.qlinear_pointwise(x, X_SCALE, X_ZERO, copied, *arguments), expected
    )
    del copied, expected
    torch.xpu.synchronize()
    held = torch.xpu.memory_allocated()
    packed = None
    assert held - torch.xpu.memory_allocated() >= 2 * weight.numel()


@pytest.mark.onednn
@pytest.mark.values
@pytest.mark.cpu_device
def test_depthwise_convolutions_without_zero_points_are_onednns():
    generator = torch.Generator().manual_seed(4)
    x = channels_last(integers(generator, torch.uint8, 2, 64, 12, 12)).xpu()
    weight, scales, zeros = weight_of(generator, 64, 1, 3, 3)
    geometry = ((1, 1), (1, 1), (1, 1), 64)
    packed = ops.qconv_prepack(weight.xpu(), scales, 1.0, 0, *geometry, [2, 64, 12, 12])
    arguments = (packed, *on_xpu((scales, zeros, None)), *geometry, 0.5, 0, torch.uint8)
    count = primitives(
        lambda: ops.qconv_pointwise(x, 0.02, 0, *arguments, "hardtanh", [0.0, 6.0], "")
    )
    assert count >= 1


@pytest.mark.values
def test_a_graph_replays_quantized_layers():
    x, weight, parameters, outcome, _ = linear_operands(torch.uint8, torch.uint8, shape=(32, 64))
    x, arguments = x.xpu(), on_xpu((*parameters, *outcome, "relu", [], ""))
    # One weight was multiplied before the capture, the other is met in it.
    known, new = (ops.qlinear_prepack(weight.xpu(), None) for _ in range(2))
    expected = ops.qlinear_pointwise(x, X_SCALE, X_ZERO, known, *arguments)
    graph = torch.xpu.XPUGraph()
    with torch.xpu.graph(graph):
        results = [
            ops.qlinear_pointwise(x, X_SCALE, X_ZERO, packed, *arguments) for packed in (known, new)
        ]
    changed = torch.randint_like(x, 0, 255)
    for source in (x.clone(), changed):
        x.copy_(source)
        expected = ops.qlinear_pointwise(x, X_SCALE, X_ZERO, known, *arguments)
        graph.replay()
        for result in results:
            assert torch.equal(result, expected)


def rejected(change, match, error=RuntimeError):
    """Assert that a call with one argument changed raises an error that matches."""
    x, weight, (scales, zeros, bias), outcome, _ = linear_operands(torch.uint8, torch.float32)
    arguments = {
        "x": x.xpu(),
        "scale": X_SCALE,
        "zero": X_ZERO,
        "weight": ops.qlinear_prepack(weight.xpu(), None),
        "scales": scales.xpu(),
        "zeros": zeros.xpu(),
        "bias": bias.xpu(),
        "output_scale": outcome[0],
        "output_zero": outcome[1],
        "type": outcome[2],
        "name": "none",
    } | change
    with pytest.raises(error, match=match):
        ops.qlinear_pointwise(*arguments.values(), [], "")


def test_wrong_operands_are_named():
    floats = torch.ones(3, 33, device="xpu")
    rejected({"x": floats}, "an input of uint8 or int8, got Float")
    rejected({"x": floats[:, :5].byte()}, "cannot be multiplied")
    rejected({"weight": floats.t()}, "a weight of int8, got Float")
    rejected({"scales": floats[0, :2]}, "weight scales of float32, 1 or 21")
    rejected({"scales": torch.ones(21)}, "same device")
    rejected(
        {"zeros": torch.ones(21, device="xpu")}, "zero points other than 0", NotImplementedError
    )
    rejected({"bias": floats[0, :2]}, "a bias of 21 elements")
    rejected({"output_scale": 0.5}, "a scale of 1 and a zero point of 0")
    rejected({"type": torch.int32}, "a result of float32, bfloat16, uint8 or int8, got Int")
    rejected({"name": "sine"}, "unknown activation 'sine'")
    with pytest.raises(RuntimeError, match="a matrix of int8, got Float"):
        ops.qlinear_prepack(floats, None)
    with pytest.raises(RuntimeError, match="three to five dimensions, got Char"):
        ops.qconv_prepack(floats.char(), floats, 1.0, 0, [1], [0], [1], 1)
