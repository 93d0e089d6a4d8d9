"""Pooling, forward and backward, by every candidate against numpy in float64."""

import itertools

import numpy as np
import pytest
from dnn_reference import check, fetch, place, rounded

pytestmark = pytest.mark.usefixtures("device")

CANDIDATES = [pytest.param("onednn", marks=pytest.mark.onednn), "sycl"]
KINDS = ["max", "average", "average_inside"]
CASES = {
    "1d": ((2, 5, 11), {"kernel": 3, "stride": 2, "padding": 1}),
    "2d": ((2, 16, 9, 8), {"kernel": 2}),
    "2d overlapping": ((1, 16, 9, 10), {"kernel": 3, "stride": 2, "padding": 1}),
    "2d uneven": ((1, 3, 9, 8), {"kernel": (3, 2), "stride": (1, 2), "padding": (1, 0)}),
    "3d": ((1, 4, 5, 6, 7), {"kernel": (2, 3, 2), "stride": (1, 2, 2)}),
}


def each(value, spatial):
    return [value] * spatial if isinstance(value, int) else list(value)


def windows(shape, options):
    """For each result position: the slices of x that its window covers, and the window's size."""
    spatial = len(shape) - 2
    kernel = each(options["kernel"], spatial)
    stride, padding = (
        each(options.get("stride", kernel), spatial),
        each(options.get("padding", 0), spatial),
    )
    sizes = [(shape[2 + d] + 2 * padding[d] - kernel[d]) // stride[d] + 1 for d in range(spatial)]
    for at in itertools.product(*map(range, sizes)):
        starts = [at[d] * stride[d] - padding[d] for d in range(spatial)]
        window = tuple(
            slice(max(s, 0), min(s + k, n))
            for s, k, n in zip(starts, kernel, shape[2:], strict=True)
        )
        yield at, window, int(np.prod(kernel))


def reference(x, kind, options):
    sizes = np.max([at for at, _, _ in windows(x.shape, options)], axis=0) + 1
    y = np.zeros((*x.shape[:2], *sizes))
    for at, window, size in windows(x.shape, options):
        part = x[(slice(None), slice(None), *window)].reshape(*x.shape[:2], -1)
        value = (
            part.max(-1)
            if kind == "max"
            else part.sum(-1) / (size if kind == "average" else part.shape[-1])
        )
        y[(slice(None), slice(None), *at)] = value
    return y


def reference_backward(x, grad, kind, options):
    result = np.zeros(x.shape)
    for at, window, size in windows(x.shape, options):
        index = (slice(None), slice(None), *window)
        part, g = x[index], grad[(slice(None), slice(None), *at)]
        flat = part.reshape(*x.shape[:2], -1)
        if kind == "max":
            share = np.eye(flat.shape[-1])[flat.argmax(-1)] * g[..., None]
        else:
            share = np.broadcast_to(
                g[..., None] / (size if kind == "average" else flat.shape[-1]), flat.shape
            )
        result[index] += share.reshape(part.shape)
    return result


@pytest.mark.parametrize("channels_last", [False, True])
@pytest.mark.parametrize("dtype", ["f32", "bf16"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("candidate", CANDIDATES)
def test_forward(xr, rng, candidate, name, kind, dtype, channels_last):
    shape, options = CASES[name]
    x = rng.standard_normal(shape)
    on_device = place(xr, x, dtype, channels_last)
    with xr.dnn.only_candidate(candidate):
        if candidate == "onednn" and kind == "max":
            with pytest.raises(xr.Unsupported, match="maximum loses NaNs"):
                xr.dnn.pool(on_device, kind=kind, **options)
            return
        y = xr.dnn.pool(on_device, kind=kind, **options)
    check(fetch(y), reference(rounded(x, dtype), kind, options), dtype)


@pytest.mark.parametrize("channels_last", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("candidate", ["default", "sycl"])
def test_backward(xr, rng, candidate, name, kind, channels_last):
    shape, options = CASES[name]
    x = rng.standard_normal(shape).astype(np.float32)
    with xr.dnn.only_candidate("" if candidate == "default" else candidate):
        device_x = place(xr, x, "f32", channels_last)
        y = xr.dnn.pool(device_x, kind=kind, **options)
        workspace = xr.dnn.pool_workspace(y) if kind == "max" else None
        xr.dnn.pool(device_x, kind=kind, dst=y, workspace=workspace, **options)
        grad = rng.standard_normal(y.shape).astype(np.float32)
        grad_x = place(xr, np.zeros(shape), "f32", channels_last)
        xr.dnn.pool_backward(
            place(xr, grad, "f32", channels_last), grad_x, kind=kind, workspace=workspace, **options
        )
    check(
        fetch(grad_x), reference_backward(x.astype(float), grad.astype(float), kind, options), "f32"
    )


def test_dilated_windows(xr):
    x = np.arange(25.0, dtype=np.float32).reshape(1, 1, 5, 5)
    y = xr.dnn.pool(xr.from_numpy(x), 2, stride=1, dilation=2)
    check(y.numpy(), x[:, :, 2:, 2:].astype(float), "f32")


@pytest.mark.values
def test_a_nan_wins(xr):
    x = np.array([[[1, np.nan, 3, 2]]], np.float32)
    assert np.isnan(xr.dnn.pool(xr.from_numpy(x), 2).numpy()).tolist() == [[[True, False]]]


def test_max_backward_needs_the_workspace(xr):
    with pytest.raises(xr.UsageError, match="needs the forward's workspace"):
        xr.dnn.pool_backward(xr.zeros((1, 1, 2)), xr.zeros((1, 1, 4)), 2)


def test_wrong_input(xr):
    with pytest.raises(xr.UsageError, match="gives 2, not 3"):
        xr.dnn.pool(xr.zeros((1, 1, 4)), 2, dst=xr.zeros((1, 1, 3)))
    with pytest.raises(xr.UsageError, match="stride is 0"):
        xr.dnn.pool(xr.zeros((1, 1, 4)), 2, stride=0, dst=xr.zeros((1, 1, 3)))
    with pytest.raises(xr.UsageError, match="expected max, average or average_inside"):
        xr.dnn.pool(xr.zeros((1, 1, 4)), 2, kind="median")
