"""Convolutions to compute, the candidates that may, and their sums by numpy in float64."""

import itertools

import numpy as np
import pytest

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
