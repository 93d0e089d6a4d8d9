"""Quantized linear layers, ``torch.ops.onednn.qlinear*``, beside those of the CPU."""

import gc

import pytest
import torch
import xpu_runtime.trace
from quantized_operands import (
    X_SCALE,
    X_ZERO,
    assert_results,
    integers,
    on_xpu,
    ops,
    primitives,
    result_arguments,
    weight_of,
)

ACTIVATIONS = {
    "none": [],
    "relu": [],
    "hardtanh": [-1.0, 3.0],
    "hardswish": [],
    "swish": [],
    "gelu": [],
}
RESULTS = [torch.float32, torch.bfloat16, torch.uint8, torch.int8]


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
        pytest.param(
            *("add", torch.bfloat16, torch.int8),
            marks=pytest.mark.skipif(
                not torch.cpu._is_avx512_supported(), reason="this CPU's own operator has no bf16"
            ),
        ),
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
@pytest.mark.parametrize("activation", ["none", "relu"])
@pytest.mark.parametrize("result", [torch.float32, torch.uint8, torch.int8], ids=str)
def test_marks_of_a_reduced_range(result, activation):
    """Inputs up to 127 are multiplied as integers on every CPU; an integer result has no number over 127."""
    x, weight, (scales, zeros, bias), outcome, _ = linear_operands(torch.uint8, result)
    x //= 2
    scales *= 10  # some results are over 127
    arguments = (scales, zeros, bias, *outcome, activation, [])
    plain = linear("default", x, weight, (*arguments, ""), "cpu")
    marked = linear("default", x, weight, (*arguments, ";x<128;y<128"), "xpu")
    if not result.is_floating_point:
        assert plain.max() > 127 or result == torch.int8
        plain = plain.clamp(max=127)
    assert_results(marked, plain)


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


def test_empty_inputs_have_empty_results():
    x, weight, parameters, outcome, _ = linear_operands(torch.uint8, torch.uint8, shape=(0, 33))
    got = linear("default", x, weight, (*parameters, *outcome, "relu", [], ""), "xpu")
    assert (got.shape, got.dtype) == ((0, 21), torch.uint8)


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
        line.startswith("onednn") and line.endswith("used") for line in xpu_runtime.dnn.explain()
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
