"""Convolutions of tensors in unusual memory: channels last in one of them alone, or gaps between images."""

import numpy as np
import pytest
from convolution_reference import (
    BACKWARD,
    CASES,
    reference,
    reference_data,
    reference_weights,
    y_shape_of,
)
from dnn_reference import check, fetch, place
from xpu_testing import assert_close

pytestmark = pytest.mark.usefixtures("device")


@pytest.mark.parametrize("candidate", BACKWARD)
@pytest.mark.parametrize("name", ["2d grouped", "2d depthwise", "2d depthwise strided", "2d stem"])
@pytest.mark.parametrize("last", ["x", "y"])
def test_backward_of_one_tensor_with_channels_last(xr, rng, candidate, name, last):
    x_shape, w_shape, options = CASES[name]
    y_shape = y_shape_of(x_shape, w_shape, options)
    x, w, y = (rng.standard_normal(shape) for shape in (x_shape, w_shape, y_shape))
    on_device = place(xr, x, "f32", last == "x"), place(xr, y, "f32", last == "y")
    grad_w, grad_x = xr.empty(w_shape, "f32"), place(xr, np.zeros(x_shape), "f32", last == "x")
    with xr.dnn.only_candidate(candidate):
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
