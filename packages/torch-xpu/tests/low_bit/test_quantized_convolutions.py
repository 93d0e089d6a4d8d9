"""Quantized convolutions, ``torch.ops.onednn.qconv*``, beside those of the CPU."""

import pytest
import torch
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
def test_sums_of_the_largest_integers(shapes):
    """They are exact, also on CPUs whose sums of two products saturate."""
    x_shape, w_shape, *geometry = shapes
    x = channels_last(torch.full(x_shape, 255, dtype=torch.uint8))
    weight = torch.full(w_shape, 127, dtype=torch.int8)
    scales, zeros = torch.ones(w_shape[0]), torch.zeros(w_shape[0], dtype=torch.int64)
    packed = ops.qconv_prepack(weight.xpu(), scales, 1.0, 0, *geometry, list(x_shape))
    got = ops.qconv_pointwise.default(
        *(x.xpu(), 1.0, 0, packed, scales.xpu(), zeros.xpu(), None, *geometry),
        *(1.0, 0, torch.float32, "none", [], ""),
    )
    stride, padding, dilation, groups = geometry
    expected = torch.convolution(
        x.double(), weight.double(), None, stride, padding, dilation, False, [0], groups
    )
    assert torch.equal(got.cpu().double(), expected)


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
