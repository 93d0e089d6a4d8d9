"""Convolutions, forward and backward, by every candidate against numpy in float64."""

import numpy as np
import pytest
from convolution_reference import (
    BACKWARD,
    CASES,
    FORWARD,
    reference,
    reference_data,
    reference_weights,
    y_shape_of,
)
from dnn_reference import check, fetch, place, rounded
from xpu_testing import assert_close, assert_repeatable

pytestmark = pytest.mark.usefixtures("device")


@pytest.fixture
def force(xr):
    def use(name):
        context = xr.dnn.only_candidate(name)
        context.__enter__()
        used.append(context)

    used = []
    yield use
    for context in used:
        context.__exit__(None, None, None)


@pytest.mark.parametrize("channels_last", [False, True])
@pytest.mark.parametrize("dtype", ["f32", "bf16", "f16"])
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("candidate", FORWARD)
def test_forward(xr, rng, force, candidate, name, dtype, channels_last):
    force(candidate)
    x_shape, w_shape, options = CASES[name]
    x, w = rng.standard_normal(x_shape), rng.standard_normal(w_shape)
    y = xr.dnn.convolution(place(xr, x, dtype, channels_last), xr.from_numpy(w, dtype), **options)
    expected = reference(
        rounded(x, dtype), rounded(w, dtype), y_shape_of(x_shape, w_shape, options), options
    )
    check(fetch(y), expected, dtype)


@pytest.mark.parametrize("channels_last", [False, True])
@pytest.mark.parametrize("dtype", ["f32", "bf16", "f16"])
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("candidate", BACKWARD)
def test_backward_data(xr, rng, force, candidate, name, dtype, channels_last):
    force(candidate)
    x_shape, w_shape, options = CASES[name]
    y_shape = y_shape_of(x_shape, w_shape, options)
    y, w = rng.standard_normal(y_shape), rng.standard_normal(w_shape)
    x = place(xr, np.zeros(x_shape), dtype, channels_last)
    xr.dnn.convolution_backward_data(
        place(xr, y, dtype, channels_last), xr.from_numpy(w, dtype), x, **options
    )
    check(fetch(x), reference_data(rounded(w, dtype), rounded(y, dtype), x_shape, options), dtype)


@pytest.mark.parametrize("with_bias", [False, True])
@pytest.mark.parametrize("channels_last", [False, True])
@pytest.mark.parametrize("dtype", ["f32", "bf16", "f16"])
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("candidate", BACKWARD)
def test_backward_weights(xr, rng, force, candidate, name, dtype, channels_last, with_bias):
    force(candidate)
    x_shape, w_shape, options = CASES[name]
    y_shape = y_shape_of(x_shape, w_shape, options)
    x, y = rng.standard_normal(x_shape), rng.standard_normal(y_shape)
    w, bias = xr.empty(w_shape, dtype), xr.empty(w_shape[0], dtype) if with_bias else None
    xr.dnn.convolution_backward_weights(
        place(xr, x, dtype, channels_last), place(xr, y, dtype, channels_last), w, bias, **options
    )
    check(
        w.numpy(), reference_weights(rounded(x, dtype), rounded(y, dtype), w_shape, options), dtype
    )
    if with_bias:
        check(bias.numpy(), rounded(y, dtype).sum((0, *range(2, y.ndim))), dtype)


@pytest.mark.parametrize("candidate", FORWARD)
def test_pointwise_bias_and_post_ops(xr, rng, force, candidate):
    """Large images with dense channels, for which oneDNN's part is a matrix product."""
    force(candidate)
    x, w, bias = (rng.standard_normal(s) for s in ((2, 5, 16, 15), (7, 5, 1, 1), (7,)))
    y = xr.dnn.convolution(
        *(xr.from_numpy(v, "f32") for v in (x, w)),
        bias=xr.from_numpy(bias, "f32"),
        post_ops=[xr.dnn.PostOp("relu")],
    )
    expected = reference(x, w, y.shape, {}) + bias[:, None, None]
    check(y.numpy(), np.maximum(expected, 0), "f32")


@pytest.mark.parametrize("candidate", FORWARD)
def test_bias_of_every_other_number(xr, rng, force, candidate):
    force(candidate)
    x, w, bias = (rng.standard_normal(s) for s in ((2, 5, 6, 7), (7, 5, 3, 3), (7, 2)))
    y = xr.dnn.convolution(
        *(xr.from_numpy(v, "f32") for v in (x, w)),
        bias=xr.from_numpy(bias, "f32").view((7,), (2,), 1),
    )
    check(y.numpy(), reference(x, w, y.shape, {}) + bias[:, 1, None, None], "f32")


TRANSPOSED = {
    "1d": ((2, 3, 9), (3, 4, 3), {"stride": 2, "padding": 1}),
    "2d": ((1, 6, 7, 5), (6, 4, 4, 4), {"stride": 2, "padding": 1}),
    "2d output padding": ((1, 8, 5, 5), (8, 4, 3, 3), {"stride": 2, "padding": 1, "padding_r": 0}),
    "2d grouped": ((2, 6, 5, 5), (6, 4, 3, 3), {"stride": 2, "groups": 2}),
    "3d": ((1, 3, 3, 4, 4), (3, 2, 2, 2, 2), {"stride": 2}),
}


@pytest.mark.parametrize("with_bias", [False, True])
@pytest.mark.parametrize("name", TRANSPOSED)
@pytest.mark.parametrize("candidate", FORWARD)
def test_transposed(xr, rng, force, candidate, name, with_bias):
    src_shape, w_shape, options = TRANSPOSED[name]
    force(candidate)
    src, w = rng.standard_normal(src_shape), rng.standard_normal(w_shape)
    channels = w_shape[1] * options.get("groups", 1)
    bias = rng.standard_normal(channels)

    def convolve():
        return xr.dnn.convolution(
            xr.from_numpy(src, "f32"),
            xr.from_numpy(w, "f32"),
            transposed=True,
            bias=xr.from_numpy(bias, "f32") if with_bias else None,
            **options,
        )

    dst = convolve()
    expected = reference_data(w, src, dst.shape, options)
    if with_bias:
        expected += bias.reshape(-1, *[1] * (src.ndim - 2))
    check(dst.numpy(), expected, "f32")


@pytest.mark.parametrize("name", TRANSPOSED)
@pytest.mark.parametrize("candidate", FORWARD)
def test_transposed_with_post_ops(xr, rng, force, candidate, name):
    src_shape, w_shape, options = TRANSPOSED[name]
    force(candidate)
    src, w = rng.standard_normal(src_shape), rng.standard_normal(w_shape)
    device_src, device_w = xr.from_numpy(src, "f32"), xr.from_numpy(w, "f32")
    shape = xr.dnn.convolution(device_src, device_w, transposed=True, **options).shape
    before, factor = rng.standard_normal(shape), rng.standard_normal(shape)
    dst = xr.from_numpy(before, "f32")
    post_ops = [
        xr.dnn.PostOp("relu"),
        xr.dnn.PostOp("mul", operand=xr.from_numpy(factor, "f32")),
        xr.dnn.PostOp("sum", 2),
    ]
    xr.dnn.convolution(device_src, device_w, transposed=True, post_ops=post_ops, dst=dst, **options)
    expected = np.maximum(reference_data(w, src, shape, options), 0) * factor + 2 * before
    check(dst.numpy(), expected, "f32")


@pytest.mark.parametrize("name", TRANSPOSED)
@pytest.mark.parametrize("candidate", ["default", "sycl"])
def test_transposed_backward(xr, rng, force, candidate, name):
    force("" if candidate == "default" else candidate)
    src_shape, w_shape, options = TRANSPOSED[name]
    src, w = rng.standard_normal(src_shape), rng.standard_normal(w_shape)
    probe = xr.dnn.convolution(
        xr.from_numpy(src, "f32"), xr.from_numpy(w, "f32"), transposed=True, **options
    )
    grad = rng.standard_normal(probe.shape)
    device_grad, device_w = xr.from_numpy(grad, "f32"), xr.from_numpy(w, "f32")
    grad_src = xr.dnn.convolution_backward_data(
        device_grad, device_w, xr.empty(src_shape), transposed=True, **options
    )
    check(grad_src.numpy(), reference(grad, w, src_shape, options), "f32")
    grad_w, grad_bias = xr.empty(w_shape), xr.empty(grad.shape[1])
    xr.dnn.convolution_backward_weights(
        xr.from_numpy(src, "f32"), device_grad, grad_w, grad_bias, transposed=True, **options
    )
    check(grad_w.numpy(), reference_weights(grad, src, w_shape, options), "f32")
    check(grad_bias.numpy(), grad.sum((0, *range(2, grad.ndim))), "f32")


@pytest.mark.parametrize("channels_last", [False, True])
@pytest.mark.parametrize("candidate", FORWARD)
def test_bias_and_post_ops(xr, rng, force, candidate, channels_last):
    force(candidate)
    x, w, bias = (
        rng.standard_normal((2, 16, 7, 7)),
        rng.standard_normal((24, 16, 3, 3)),
        rng.standard_normal(24),
    )
    before = rng.standard_normal((2, 24, 7, 7))
    y = place(xr, before, "f32", channels_last)
    ops = [xr.dnn.PostOp("sum", 1.0), xr.dnn.PostOp("relu")]
    xr.dnn.convolution(
        place(xr, x, "f32", channels_last),
        xr.from_numpy(w, "f32"),
        y,
        padding=1,
        bias=xr.from_numpy(bias, "f32"),
        post_ops=ops,
    )
    expected = reference(x, w, before.shape, {"padding": 1}) + bias.reshape(-1, 1, 1) + before
    check(fetch(y), np.maximum(expected, 0), "f32")


@pytest.mark.parametrize("dtype", ["i8"])
@pytest.mark.parametrize("candidate", FORWARD)
def test_integers_are_exact(xr, rng, force, candidate, dtype):
    force(candidate)
    x, w = (
        rng.integers(-128, 128, shape).astype({"i8": np.int8}[dtype])
        for shape in ((1, 16, 6, 6), (16, 16, 3, 3))
    )
    y = xr.dnn.convolution(xr.from_numpy(x), xr.from_numpy(w), padding=1)
    expected = reference(x.astype(float), w.astype(float), (1, 16, 6, 6), {"padding": 1})
    assert_close(y.numpy(), expected.astype(np.int32))


def test_odd_strides(xr, rng):
    x, w = rng.standard_normal((1, 4, 6, 12)), rng.standard_normal((5, 4, 3, 3))
    view = xr.from_numpy(x, "f32").view((1, 4, 6, 6), (288, 72, 12, 2))
    y = xr.dnn.convolution(view, xr.from_numpy(w, "f32"))
    check(y.numpy(), reference(x[..., ::2], w, (1, 5, 4, 4), {}), "f32")


@pytest.mark.parametrize("candidate", BACKWARD)
def test_repeats_bit_for_bit(xr, rng, force, candidate):
    force(candidate)
    x = xr.from_numpy(rng.standard_normal((4, 8, 15, 15)), "f32")
    grad = xr.from_numpy(rng.standard_normal((4, 8, 15, 15)), "f32")
    w = xr.from_numpy(rng.standard_normal((8, 8, 3, 3)), "f32")
    assert_repeatable(lambda: xr.dnn.convolution(x, w, padding=1, deterministic=True).numpy(), 3)
    assert_repeatable(
        lambda: xr.dnn.convolution_backward_weights(
            x, grad, xr.empty((8, 8, 3, 3)), padding=1, deterministic=True
        ).numpy(),
        3,
    )


@pytest.mark.parametrize(
    ("x", "w", "options", "message"),
    [
        ((1, 3, 8, 8), (4, 2, 3, 3), {}, "do not fit together"),
        ((1, 3, 8, 8), (4, 3, 3, 3), {"groups": 2}, "do not fit together"),
        ((1, 3, 8, 8), (4, 3, 3, 3), {"stride": 0}, "stride is 0"),
        ((1, 3, 8, 8), (4, 3, 9, 9), {}, "is not|does not fit|gives 0"),
        ((1, 3, 8, 8), (4, 3, 3, 3), {"stride": (1, 1, 1)}, "one for each of the 2"),
        ((3, 8), (4, 3), {}, "three to five dimensions"),
    ],
)
def test_wrong_input(xr, x, w, options, message):
    with pytest.raises(xr.UsageError, match=message):
        xr.dnn.convolution(xr.zeros(x), xr.zeros(w), **options)
