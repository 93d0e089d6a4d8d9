"""Fourier transforms beside numpy's: lengths of every kind, real and complex, layouts, precision."""

import numpy as np
import pytest
from layouts import LAYOUTS, NUMPY, Placed
from xpu_testing import assert_close, assert_repeatable, values_checked

pytestmark = pytest.mark.usefixtures("device")

REAL = {"c64": "f32", "c128": "f64"}
# Every radix, products of several, small primes that are summed, large ones that become convolutions.
SHORT = (
    *(
        1,
        2,
        3,
        4,
        5,
        6,
        7,
        8,
        9,
        11,
        12,
        15,
        16,
        25,
        27,
        30,
        49,
        61,
        67,
        64,
        97,
        100,
        112,
        121,
        128,
    ),
    *(168, 210, 243, 256, 360, 1000),
)
# In one step on one device, in two or three on another; primes.
LONG = (
    *(1009, 1024, 1536, 2048, 2187, 2310, 4096, 5000, 8192, 10007, 30030, 65536, 65537, 120_000),
    *(3**11, 2**18),
)


def bound(dtype, n):
    """Largest error relative to the norm of the results: a few roundings for each pass."""
    unit = np.finfo(NUMPY[dtype]).eps
    return unit * (2 + 0.6 * np.log2(max(n, 2)))


def check(result, expected, dtype, n, elements=None):
    """Errors are measured against the mean size of the elements, as a transform mixes all of them."""
    if not values_checked():
        return
    assert result.shape == expected.shape
    scale = np.sqrt(np.mean(np.abs(expected) ** 2)) or 1.0
    error = np.abs(result - expected).max() / scale
    assert error < 4 * bound(dtype, n), (error, bound(dtype, n))
    assert np.sqrt(np.mean(np.abs(result - expected) ** 2)) / scale < bound(dtype, n)


def numbers(rng, shape, dtype):
    x = rng.standard_normal(shape)
    return x + 1j * rng.standard_normal(shape) if dtype in REAL else x


def double(x):
    return x.astype(np.complex128 if np.iscomplexobj(x) else np.float64)


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("n", SHORT + LONG)
def test_lengths(xr, rng, n, dtype):
    lines = 3 if n > 500 else 37
    x = Placed((lines, n), dtype, values=numbers(rng, (lines, n), dtype))
    out = Placed((lines, n), dtype)
    xr.kernels.fft(out.array, x.array)
    check(out.result(), np.fft.fft(double(x.host)), dtype, n)
    xr.kernels.fft(out.array, x.array, inverse=True, scale=1 / n)
    check(out.result(), np.fft.ifft(double(x.host)), dtype, n)


@pytest.mark.parametrize("n", [3 << 18, 1 << 20, 999_983])
def test_longest(xr, rng, n):
    x = Placed((1, n), "c64", values=numbers(rng, (1, n), "c64"))
    out = Placed((1, n), "c64")
    xr.kernels.fft(out.array, x.array)
    check(out.result(), np.fft.fft(double(x.host)), "c64", n)


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("n", SHORT + LONG)
def test_real_numbers(xr, rng, n, dtype):
    lines = 2 if n > 500 else 19
    x = Placed((lines, n), REAL[dtype], values=rng.standard_normal((lines, n)))
    half = Placed((lines, n // 2 + 1), dtype)
    xr.kernels.fft(half.array, x.array, scale=0.5)
    check(half.result(), np.fft.rfft(double(x.host)) / 2, dtype, n)
    # The imaginary parts at the ends count as 0.
    x = Placed((lines, n // 2 + 1), dtype, values=numbers(rng, (lines, n // 2 + 1), dtype))
    back = Placed((lines, n), REAL[dtype])
    xr.kernels.fft(back.array, x.array, inverse=True, scale=1 / n)
    check(back.result(), np.fft.irfft(double(x.host), n), dtype, n)


@pytest.mark.parametrize("n", [2, 60, 1000, 9000])
@pytest.mark.parametrize("dim", [0, 1, 2])
def test_dimensions(xr, rng, n, dim):
    shape = [3, 5, 4]
    shape[dim] = n
    x = Placed(shape, "c64", values=numbers(rng, shape, "c64"))
    out = Placed(shape, "c64")
    xr.kernels.fft(out.array, x.array, dim)
    check(out.result(), np.fft.fft(double(x.host), axis=dim), "c64", n)
    real = Placed(shape, "f32", values=rng.standard_normal(shape))
    shape[dim] = n // 2 + 1
    half = Placed(shape, "c64")
    xr.kernels.fft(half.array, real.array, dim)
    check(half.result(), np.fft.rfft(double(real.host), axis=dim), "c64", n)
    back = Placed(real.host.shape, "f32")
    xr.kernels.fft(back.array, half.array, dim, inverse=True, scale=1 / n)
    check(back.result(), double(real.host), "c64", n)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("target", LAYOUTS)
@pytest.mark.parametrize("n", [30, 67, 256, 8820])
def test_layouts(xr, rng, layout, target, n):
    x = Placed((2, n, 3), "c64", layout, numbers(rng, (2, n, 3), "c64"))
    out = Placed((2, n, 3), "c64", target)
    xr.kernels.fft(out.array, x.array, 1)
    check(out.result(), np.fft.fft(double(x.host), axis=1), "c64", n)
    real = Placed((2, 3, n), "f32", layout, rng.standard_normal((2, 3, n)))
    half = Placed((2, 3, n // 2 + 1), "c64", target)
    xr.kernels.fft(half.array, real.array)
    check(half.result(), np.fft.rfft(double(real.host)), "c64", n)
    back = Placed((2, 3, n), "f32", layout)
    xr.kernels.fft(back.array, half.array, inverse=True, scale=1 / n)
    check(back.result(), double(real.host), "c64", n)


def test_many_dimensions(xr, rng):
    shape = (2, 3, 2, 2, 8, 2, 3, 2)
    order = (3, 1, 7, 0, 4, 2, 6, 5)
    host = numbers(rng, shape, "c64").astype(np.complex64)
    x, out = xr.from_numpy(host).transpose(*order), xr.empty([shape[i] for i in order], "c64")
    xr.kernels.fft(out, x, 4)
    check(out.numpy(), np.fft.fft(double(host.transpose(order)), axis=4), "c64", 8)


@pytest.mark.parametrize("shape", [(70, 48), (5, 8192), (3, 134), (128, 1009)], ids=str)
def test_in_place(xr, rng, shape):
    x = Placed(shape, "c64", values=numbers(rng, shape, "c64"))
    expected = double(x.host)
    for dim in (0, 1):
        xr.kernels.fft(x.array, x.array, dim)
        expected = np.fft.fft(expected, axis=dim)
    check(x.result(), expected, "c64", shape[0] * shape[1])


def test_many_lines(xr, rng):
    for shape, dim in (((100_000, 4), 1), ((4, 100_000), 0), ((300, 7, 50), 1)):
        x = Placed(shape, "c64", values=numbers(rng, shape, "c64"))
        out = Placed(shape, "c64")
        xr.kernels.fft(out.array, x.array, dim)
        check(out.result(), np.fft.fft(double(x.host), axis=dim), "c64", 8)


def test_empty(xr):
    for shape in ((0, 8), (3, 0)):
        xr.kernels.fft(xr.empty(shape, "c64"), xr.empty(shape, "c64"))


@pytest.mark.parametrize("n", [1000, 1009, 8192])
def test_repeatable(xr, rng, n):
    x = xr.from_numpy(numbers(rng, (20, n), "c64").astype(np.complex64))

    def run():
        out = xr.empty((20, n), "c64")
        xr.kernels.fft(out, x)
        return out.numpy()

    assert_repeatable(run)


def test_nan_stays_in_its_line(xr, rng):
    host = numbers(rng, (20, 64), "c64").astype(np.complex64)
    host[3, 5] = np.nan
    out = xr.empty((20, 64), "c64")
    xr.kernels.fft(out, xr.from_numpy(host))
    assert_close(np.isnan(out.numpy()).all(axis=1), np.arange(20) == 3)


@pytest.mark.parametrize(
    ("out", "x", "shape", "inverse", "words"),
    [
        ("f32", "f32", (4, 8), False, "one of them complex"),
        ("c128", "c64", (4, 8), False, "c64 with"),
        ("c64", "i32", (4, 8), False, "c64 with"),
        ("c64", "c64", (4, 9), False, "does not fit"),
        ("c64", "f32", (4, 8), False, "does not fit"),
        ("c64", "f32", (4, 5), True, "forward only"),
        ("f32", "c64", (4, 14), False, "inverse only"),
        ("c64", "c64", (4, 8, 1), False, "dimensions"),
    ],
)
def test_misuse(xr, out, x, shape, inverse, words):
    with pytest.raises(xr.UsageError, match=words):
        xr.kernels.fft(xr.empty(shape, out), xr.empty((4, 8), x), inverse=inverse)
    with pytest.raises(xr.UsageError, match="dimension"):
        xr.kernels.fft(xr.empty((4, 8), "c64"), xr.empty((4, 8), "c64"), 2)
