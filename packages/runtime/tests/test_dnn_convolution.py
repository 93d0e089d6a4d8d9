"""Convolutions, forward and backward, by every candidate against numpy in float64."""

import itertools

import numpy as np
import pytest
from dnn_reference import check, fetch, place, rounded
from xpu_testing import assert_close, assert_repeatable

pytestmark = pytest.mark.usefixtures("device")

FORWARD = [
    *(pytest.param(name, marks=pytest.mark.onednn) for name in ("onednn", "onednn+sycl")),
    "sycl",
]
BACKWARD = [pytest.param("onednn", marks=pytest.mark.onednn), "sycl"]

# name: source shape, weights shape, options
CASES = {
    "1d": ((2, 3, 11), (4, 3, 3), {"padding": 1}),
    "2d": ((2, 5, 9, 8), (7, 5, 3, 3), {"padding": 1}),
    "2d strided": ((1, 16, 13, 12), (32, 16, 3, 3), {"stride": 2, "padding": 1}),
    "2d pointwise": ((2, 16, 7, 7), (24, 16, 1, 1), {}),
    "2d pointwise, large images": ((2, 5, 16, 15), (7, 5, 1, 1), {}),
    "2d pointwise strided": ((2, 16, 8, 8), (24, 16, 1, 1), {"stride": 2}),
    "2d dilated": ((1, 4, 12, 11), (6, 4, 3, 3), {"dilation": 2, "padding": 2}),
    "2d grouped": ((2, 8, 6, 6), (12, 4, 3, 3), {"groups": 2, "padding": 1}),
    "2d depthwise": ((2, 16, 6, 6), (16, 1, 3, 3), {"groups": 16, "padding": 1}),
    "2d depthwise strided": (
        (2, 16, 9, 8),
        (16, 1, 3, 3),
        {"groups": 16, "stride": 2, "padding": 1},
    ),
    "2d uneven": (
        (1, 3, 10, 9),
        (5, 3, 4, 2),
        {"stride": (2, 1), "padding": (1, 0), "padding_r": (2, 1)},
    ),
    "2d one image row": ((1, 3, 1, 20), (8, 3, 1, 7), {"stride": (1, 2), "padding": (0, 3)}),
    "2d stem": ((1, 3, 21, 21), (16, 3, 7, 7), {"stride": 2, "padding": 3}),
    "3d": ((1, 3, 5, 6, 7), (4, 3, 2, 3, 3), {"padding": (0, 1, 1)}),
}


def three(value, spatial, otherwise):
    values = [value] * spatial if isinstance(value, int) else list(value)
    return [otherwise] * (3 - spatial) + values


def weight_windows(w_shape, y_shape, options):
    """For each place_in_kernel of the kernel: its index, and the slices of a padded x that meet y."""
    spatial = len(w_shape) - 2
    s, d = (
        three(options.get("stride", 1), spatial, 1),
        three(options.get("dilation", 1), spatial, 1),
    )
    kernel, out = [1] * (3 - spatial) + list(w_shape[2:]), [1] * (3 - spatial) + list(y_shape[2:])
    for place_in_kernel in itertools.product(*map(range, kernel)):
        window = tuple(
            slice(t * dd, t * dd + (o - 1) * ss + 1, ss)
            for t, dd, o, ss in zip(place_in_kernel, d, out, s, strict=True)
        )
        yield place_in_kernel, window


def five(t):
    """N C and three spatial dimensions."""
    return t.reshape(*t.shape[:2], *[1] * (5 - t.ndim), *t.shape[2:])


def padded(x, options, fill=60):
    spatial = x.ndim - 2
    left = three(options.get("padding", 0), spatial, 0)
    return np.pad(five(x), [(0, 0), (0, 0), *((n, fill) for n in left)]), left


def reference(x, w, y_shape, options):
    """Return the convolution x * w, in f64."""
    groups = options.get("groups", 1)
    wide, _ = padded(x, options)
    y = np.zeros((y_shape[0], y_shape[1], *[1] * (5 - len(y_shape)), *y_shape[2:]))
    w5 = five(w)
    for place_in_kernel, window in weight_windows(w.shape, y_shape, options):
        part = wide[(slice(None), slice(None), *window)].reshape(
            x.shape[0], groups, -1, *y.shape[2:]
        )
        weight = w5[(slice(None), slice(None), *place_in_kernel)].reshape(groups, -1, w.shape[1])
        y += np.einsum("ngcdhw,goc->ngodhw", part, weight).reshape(y.shape)
    return y.reshape(y_shape)


def reference_data(w, y, x_shape, options):
    """The sum over y that gives x."""
    groups = options.get("groups", 1)
    wide, left = padded(np.zeros(x_shape), options)
    y5, w5 = five(y), five(w)
    grouped = y5.reshape(y.shape[0], groups, -1, *y5.shape[2:])
    for place_in_kernel, window in weight_windows(w.shape, y.shape, options):
        weight = w5[(slice(None), slice(None), *place_in_kernel)].reshape(groups, -1, w.shape[1])
        part = np.einsum("ngodhw,goc->ngcdhw", grouped, weight)
        wide[(slice(None), slice(None), *window)] += part.reshape(
            x_shape[0], x_shape[1], *y5.shape[2:]
        )
    size = five(np.empty(x_shape)).shape[2:]
    inside = tuple(slice(n, n + m) for n, m in zip(left, size, strict=True))
    return wide[(slice(None), slice(None), *inside)].reshape(x_shape)


def reference_weights(x, y, w_shape, options):
    """The sum over x and y that gives w."""
    groups = options.get("groups", 1)
    wide, _ = padded(x, options)
    y5 = five(y)
    grouped = y5.reshape(y.shape[0], groups, -1, *y5.shape[2:])
    w = np.zeros(five(np.empty(w_shape)).shape)
    for place_in_kernel, window in weight_windows(w_shape, y.shape, options):
        part = wide[(slice(None), slice(None), *window)].reshape(
            x.shape[0], groups, -1, *y5.shape[2:]
        )
        w[(slice(None), slice(None), *place_in_kernel)] = np.einsum(
            "ngcdhw,ngodhw->goc", part, grouped
        ).reshape(w_shape[:2])
    return w.reshape(w_shape)


def y_shape_of(x, w, options):
    spatial = len(x) - 2
    left = three(options.get("padding", 0), spatial, 0)[3 - spatial :]
    right = three(options.get("padding_r", options.get("padding", 0)), spatial, 0)[3 - spatial :]
    stride, dilation = (
        three(options.get(k, 1), spatial, 1)[3 - spatial :] for k in ("stride", "dilation")
    )
    sizes = [
        (x[2 + d] + left[d] + right[d] - dilation[d] * (w[2 + d] - 1) - 1) // stride[d] + 1
        for d in range(spatial)
    ]
    return (x[0], w[0], *sizes)


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


@pytest.mark.parametrize("candidate", FORWARD)
def test_integers_are_exact(xr, rng, force, candidate):
    force(candidate)
    x = rng.integers(-128, 128, (1, 16, 6, 6)).astype(np.int8)
    w = rng.integers(-128, 128, (16, 16, 3, 3)).astype(np.int8)
    y = xr.dnn.convolution(xr.from_numpy(x), xr.from_numpy(w), padding=1)
    expected = reference(x.astype(float), w.astype(float), (1, 16, 6, 6), {"padding": 1})
    assert_close(y.numpy(), expected.astype(np.int32))


def test_odd_strides(xr, rng):
    x, w = rng.standard_normal((1, 4, 6, 12)), rng.standard_normal((5, 4, 3, 3))
    view = xr.from_numpy(x, "f32").view((1, 4, 6, 6), (288, 72, 12, 2))
    y = xr.dnn.convolution(view, xr.from_numpy(w, "f32"))
    check(y.numpy(), reference(x[..., ::2], w, (1, 5, 4, 4), {}), "f32")


@pytest.mark.parametrize("candidate", BACKWARD)
@pytest.mark.parametrize("name", ["2d grouped", "2d depthwise", "2d depthwise strided", "2d stem"])
@pytest.mark.parametrize("last", ["x", "y"])
def test_backward_of_one_tensor_with_channels_last(xr, rng, force, candidate, name, last):
    force(candidate)
    x_shape, w_shape, options = CASES[name]
    y_shape = y_shape_of(x_shape, w_shape, options)
    x, w, y = (rng.standard_normal(shape) for shape in (x_shape, w_shape, y_shape))
    on_device = place(xr, x, "f32", last == "x"), place(xr, y, "f32", last == "y")
    grad_w, grad_x = xr.empty(w_shape, "f32"), place(xr, np.zeros(x_shape), "f32", last == "x")
    xr.dnn.convolution_backward_weights(*on_device, grad_w, None, **options)
    xr.dnn.convolution_backward_data(on_device[1], xr.from_numpy(w, "f32"), grad_x, **options)
    check(grad_w.numpy(), reference_weights(x, y, w_shape, options), "f32")
    check(fetch(grad_x), reference_data(w, y, x_shape, options), "f32")


class WithGaps:
    """A tensor with channels last, and the channels of one more place before each image."""

    def __init__(self, xr, values):
        (n, c, h, w), self.shape = values.shape, values.shape
        rows = np.full((n, 1 + h * w, c), 9.0)
        rows[:, 1:] = values.reshape(n, c, h * w).transpose(0, 2, 1)
        self.memory = xr.from_numpy(rows, "f32")
        self.array = self.memory.view(self.shape, ((1 + h * w) * c, 1, w * c, c), c)

    def fetch(self):
        rows = self.memory.numpy()
        assert_close(rows[:, 0], np.full_like(rows[:, 0], 9), rtol=0, atol=0)
        return rows[:, 1:].transpose(0, 2, 1).reshape(self.shape)


@pytest.mark.parametrize("kernel", [1, 4, 8])
def test_gaps_between_images(xr, rng, kernel):
    """As a vision transformer's first convolution has them, whose result follows a class token."""
    x, w = rng.standard_normal((2, 3, 32, 32)), rng.standard_normal((32, 3, kernel, kernel))
    options = {"stride": kernel}
    y = rng.standard_normal(y_shape_of(x.shape, w.shape, options))
    source, grad = WithGaps(xr, x), WithGaps(xr, y)
    weights = xr.from_numpy(w, "f32")
    forward, grad_x, grad_w = (WithGaps(xr, np.zeros_like(t)) for t in (y, x, w))
    xr.dnn.convolution(source.array, weights, forward.array, **options)
    xr.dnn.convolution_backward_data(grad.array, weights, grad_x.array, **options)
    xr.dnn.convolution_backward_weights(source.array, grad.array, grad_w.array, None, **options)
    check(forward.fetch(), reference(x, w, y.shape, options), "f32")
    check(grad_x.fetch(), reference_data(w, y, x.shape, options), "f32")
    check(grad_w.fetch(), reference_weights(x, y, w.shape, options), "f32")


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
