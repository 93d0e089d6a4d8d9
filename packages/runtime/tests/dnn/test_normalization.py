"""Layer and batch normalisation, softmax and reorders, by every candidate against numpy in float64."""

import numpy as np
import pytest
from dnn_reference import check, fetch, fp8_values, place, rounded
from xpu_testing import assert_close, assert_repeatable

pytestmark = pytest.mark.usefixtures("device")

CANDIDATES = [pytest.param("onednn", marks=pytest.mark.onednn), "sycl"]


@pytest.fixture(params=CANDIDATES)
def candidate(request, xr):
    with xr.dnn.only_candidate(request.param):
        yield request.param


@pytest.mark.parametrize("dtype", ["f32", "bf16", "f16"])
@pytest.mark.parametrize("parameters", ["", "w", "b", "wb"])
@pytest.mark.parametrize("shape", [(7, 33), (2, 5, 300), (1, 1, 4, 64)])
def test_layer_norm(xr, rng, candidate, shape, parameters, dtype):
    x = rng.standard_normal(shape) * 3 + 1
    w, b = (rng.standard_normal(shape[-1]) for _ in range(2))
    weight = xr.from_numpy(w, "f32") if "w" in parameters else None
    bias = xr.from_numpy(b, "f32") if "b" in parameters else None
    y = xr.dnn.layer_norm(xr.from_numpy(x, dtype), weight, bias, epsilon=1e-3)
    v = rounded(x, dtype)
    expected = (v - v.mean(-1, keepdims=True)) / np.sqrt(v.var(-1, keepdims=True) + 1e-3)
    expected = expected * (w if weight else 1) + (b if bias else 0)
    check(y.numpy(), expected, dtype)


def test_layer_norm_statistics(xr, rng, candidate):
    x = rng.standard_normal((4, 6, 50))
    mean, variance = xr.empty((4, 6)), xr.empty((4, 6))
    xr.dnn.layer_norm(xr.from_numpy(x, "f32"), mean=mean, variance=variance)
    check(mean.numpy(), x.mean(-1), "f32")
    check(variance.numpy(), x.var(-1), "f32")


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("dtype", ["f32", "bf16"])
@pytest.mark.parametrize("channels_last", [False, True])
@pytest.mark.parametrize("parameters", ["", "wb"])
@pytest.mark.parametrize("shape", [(4, 16, 9), (2, 16, 5, 7), (2, 5, 3, 4, 4)])
def test_batch_norm(xr, rng, candidate, shape, parameters, channels_last, dtype, training):
    x = rng.standard_normal(shape) * 3 + 1
    c = shape[1]
    w, b, u, s = (
        rng.standard_normal(c),
        rng.standard_normal(c),
        rng.standard_normal(c),
        rng.uniform(0.5, 2, c),
    )
    mean, variance = xr.from_numpy(u, "f32"), xr.from_numpy(s, "f32")
    weight, bias = (xr.from_numpy(v, "f32") if parameters else None for v in (w, b))
    y = xr.dnn.batch_norm(
        place(xr, x, dtype, channels_last),
        mean,
        variance,
        weight,
        bias,
        training=training,
        epsilon=1e-3,
    )
    v = rounded(x, dtype)
    if training:
        axes = (0, *range(2, x.ndim))
        u, s = v.mean(axes), v.var(axes)
        check(mean.numpy(), u, "f32")
        check(variance.numpy(), s, "f32")
    each = (-1, *[1] * (x.ndim - 2))
    expected = (v - u.reshape(each)) / np.sqrt(s.reshape(each) + 1e-3)
    if parameters:
        expected = expected * w.reshape(each) + b.reshape(each)
    check(fetch(y), expected, dtype)


@pytest.mark.parametrize("dtype", ["f32", "bf16", "f16"])
@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize(
    ("shape", "axis"), [((7, 33), -1), ((7, 33), 0), ((2, 5, 300), 1), ((1000,), 0)]
)
def test_softmax(xr, rng, shape, axis, log, dtype):
    x = rng.standard_normal(shape) * 4
    y = xr.dnn.softmax(xr.from_numpy(x, dtype), axis, log=log)
    v = rounded(x, dtype)
    shifted = v - v.max(axis, keepdims=True)
    expected = shifted - np.log(np.exp(shifted).sum(axis, keepdims=True))
    check(y.numpy(), expected if log else np.exp(expected), dtype)


@pytest.mark.values
def test_softmax_of_infinities_and_nans(xr):
    x = np.array([[0, -np.inf, 0], [-np.inf, -np.inf, -np.inf], [0, np.nan, 1]], np.float32)
    y = xr.dnn.softmax(xr.from_numpy(x)).numpy()
    assert_close(y[0], np.array([0.5, 0, 0.5], np.float32), rtol=1e-6)
    assert np.isnan(y[2]).all()
    assert np.isnan(y[1]).all()


def test_softmax_repeats(xr, rng):
    x = xr.from_numpy(rng.standard_normal((100, 1000)), "f32")
    assert_repeatable(lambda: xr.dnn.softmax(x).numpy(), 3)


@pytest.mark.parametrize("to", ["f32", "bf16", "f16", "i8", "u8", "i32"])
@pytest.mark.parametrize("source", ["f32", "bf16", "i8"])
def test_reorder_converts(xr, rng, candidate, source, to):
    x = rng.integers(0, 100, (5, 7)).astype(np.float64) + (0 if source == "i8" else 0.25)
    y = xr.dnn.reorder(xr.from_numpy(x, source), xr.empty((5, 7), to)).numpy()
    v = x if source == "i8" else rounded(x, source)
    expected = np.rint(v) if to in ("i8", "u8", "i32") else rounded(v, to)
    assert_close(y.astype(float), expected)


def test_reorder_changes_the_layout(xr, rng, candidate):
    x = rng.standard_normal((2, 3, 4, 5)).astype(np.float32)
    y = xr.dnn.reorder(xr.from_numpy(x), place(xr, np.zeros(x.shape), "f32", True))
    assert_close(fetch(y), x)


@pytest.mark.parametrize("rows", [False, True])
def test_reorder_quantizes(xr, rng, candidate, rows):
    x = rng.standard_normal((6, 40)).astype(np.float32)
    scale = rng.uniform(0.01, 0.05, (6, 1) if rows else ()).astype(np.float32)
    q = xr.dnn.Quantization(xr.from_numpy(scale))
    y = xr.dnn.reorder(xr.from_numpy(x), xr.empty(x.shape, "i8"), dst_quantization=q)
    expected = np.clip(np.rint(x.astype(float) / scale), -128, 127)
    assert_close(y.numpy().astype(float), expected, atol=1)
    back = xr.dnn.reorder(y, xr.empty(x.shape), src_quantization=q)
    check(back.numpy(), y.numpy().astype(float) * scale, "f32")


def test_reorder_widens_fp8(xr, rng):
    bits = rng.integers(0, 0x78, (4, 32)).astype(np.uint8)
    y = xr.dnn.reorder(xr.from_numpy(bits, "f8e4m3"), xr.empty(bits.shape))
    assert_close(y.numpy().astype(float), fp8_values(bits, "f8e4m3"))


def test_wrong_input(xr):
    x = xr.zeros((3, 4))
    with pytest.raises(xr.UsageError, match="axis 2"):
        xr.dnn.softmax(x, 2)
    with pytest.raises(xr.UsageError, match=r"weight is .*, expected the shape \[4\]"):
        xr.dnn.layer_norm(x, xr.zeros(3))
    with pytest.raises(xr.UsageError, match="expected f32"):
        xr.dnn.layer_norm(x, mean=xr.zeros((3,), "f16"))
    with pytest.raises(xr.UsageError, match="expected f32"):
        xr.dnn.batch_norm(x, xr.zeros(3), xr.zeros(4))
    with pytest.raises(xr.UsageError, match=r"dst is .*, expected the shape \[3,4\]"):
        xr.dnn.reorder(x, xr.zeros((4, 3)))
