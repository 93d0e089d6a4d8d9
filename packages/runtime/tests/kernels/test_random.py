"""Random fills: known answers, distributions, and that only the seed and the element matter."""

import math

import numpy as np
import pytest
from layouts import FLOATS, INTEGERS, LAYOUTS, NUMPY, Placed
from xpu_testing import assert_close

pytestmark = pytest.mark.usefixtures("device")

N = 200_000
SEED = (0x1234_5678_9ABC_DEF0, 0)


def philox(seed, subsequence, block):
    """Philox 4x32-10 in numpy: four words for each subsequence."""
    c = [
        np.full(subsequence.shape, block & 0xFFFFFFFF, np.uint64),
        np.full(subsequence.shape, block >> 32, np.uint64),
    ]
    c += [subsequence & np.uint64(0xFFFFFFFF), subsequence >> np.uint64(32)]
    k = [seed & 0xFFFFFFFF, seed >> 32]
    low, shift = np.uint64(0xFFFFFFFF), np.uint64(32)
    for _ in range(10):
        a, b = np.uint64(0xD2511F53) * c[0], np.uint64(0xCD9E8D57) * c[2]
        c = [
            (b >> shift) ^ c[1] ^ np.uint64(k[0]),
            b & low,
            (a >> shift) ^ c[3] ^ np.uint64(k[1]),
            a & low,
        ]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return np.stack(c, axis=-1).astype(np.uint32)


def words(n, seed, offset=0):
    return philox(seed, np.arange(-(-n // 4), dtype=np.uint64), offset // 4).reshape(-1)[:n]


def filled(xr, name, shape, dtype, *arguments, layout="contiguous", source=SEED):
    out = Placed(shape, dtype, layout)
    getattr(xr.kernels, name)(out.array, *arguments, source=source)
    return out.result()


def test_numpy_model_knows_the_answer():
    # Random123's known-answer vectors for philox4x32-10.
    ones = philox(
        0xFFFFFFFF_FFFFFFFF, np.array([0xFFFFFFFF_FFFFFFFF], np.uint64), 0xFFFFFFFF_FFFFFFFF
    )
    assert [hex(x) for x in ones[0]] == ["0x408f276d", "0x41c83b0e", "0xa20bc7c6", "0x6d5451fd"]
    zeros = philox(0, np.zeros(1, np.uint64), 0)
    assert [hex(x) for x in zeros[0]] == ["0x6627e8d5", "0xe169c58d", "0xbc57ac4c", "0x9b00dbd8"]


@pytest.mark.parametrize("n", [0, 1, 3, 4, 5, 63, 64, 65, 4097, 100_003])
@pytest.mark.parametrize("offset", [0, 4, 2**34])
def test_bits(xr, n, offset):
    got = filled(xr, "random_bits", (n,), "u32", source=(SEED[0], offset))
    assert_close(got, words(n, SEED[0], offset))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_bits_of_each_width(xr, dtype):
    n = 1001
    got = filled(xr, "random_bits", (n,), dtype)
    if NUMPY[dtype].itemsize < 8:
        return assert_close(got, words(n, SEED[0]).astype(NUMPY[dtype]))
    blocks = [
        words(4 * -(-n // 4), SEED[0], 4 * k).reshape(-1, 4).astype(np.uint64) for k in (0, 1)
    ]
    pairs = np.concatenate(blocks, axis=1).reshape(-1, 2)
    return assert_close(got, (pairs[:, 0] << np.uint64(32) | pairs[:, 1])[:n].astype(NUMPY[dtype]))


def test_uniform_is_known(xr):
    got = filled(xr, "uniform", (4099,), "f32")
    assert_close(got, (words(4099, SEED[0]) >> 8).astype(np.float32) * np.float32(2**-24))


def test_integers_are_known(xr):
    got = filled(xr, "integers", (5000,), "i64", -7, 1000)
    assert_close(
        got,
        (words(5000, SEED[0]).astype(np.uint64) * np.uint64(1007) >> np.uint64(32)).astype(np.int64)
        - 7,
    )


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(xr, layout):
    got = filled(xr, "random_bits", (7, 30, 5), "u32", layout=layout)
    assert_close(got, words(1050, SEED[0]).reshape(7, 30, 5))


def test_scalar(xr):
    assert_close(filled(xr, "random_bits", (), "u32"), words(1, SEED[0]).reshape(()))


def normal_cdf(x):
    return 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


DISTRIBUTIONS = {
    "uniform": ((-2.0, 3.0), lambda x: (x + 2) / 5),
    "normal": ((1.5, 2.0), lambda x: normal_cdf((x - 1.5) / 2)),
    "log_normal": ((0.5, 0.7), lambda x: normal_cdf((np.log(x) - 0.5) / 0.7)),
    "exponential": ((2.5,), lambda x: 1 - np.exp(-2.5 * x)),
    "cauchy": ((1.0, 3.0), lambda x: 0.5 + np.arctan((x - 1) / 3) / np.pi),
}


@pytest.mark.values
@pytest.mark.parametrize("name", DISTRIBUTIONS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_distribution(xr, name, dtype):
    arguments, cdf = DISTRIBUTIONS[name]
    x = np.sort(filled(xr, name, (N,), dtype, *arguments).astype(np.float64))
    assert np.isfinite(x).all() or dtype == "f16"
    x, count = np.unique(x[np.isfinite(x)], return_counts=True)
    # Kolmogorov-Smirnov at one in a million, plus the step of a coarse dtype.
    above = np.cumsum(count) / N
    probability = cdf(x)
    steps = np.diff(probability, prepend=0).max() if dtype in ("f16", "bf16") else 0
    assert np.abs(probability - above).max() < 2.7 / math.sqrt(N) + steps
    assert np.abs(probability - (above - count / N)).max() < 2.7 / math.sqrt(N) + steps


@pytest.mark.values
@pytest.mark.parametrize("dtype", FLOATS)
def test_normal_moments(xr, dtype):
    x = filled(xr, "normal", (N,), dtype).astype(np.float64)
    assert abs(x.mean()) < 5 / math.sqrt(N)
    assert abs(x.var() - 1) < 5 * math.sqrt(2 / N) + 0.001
    assert abs((x**4).mean() - 3) < 5 * math.sqrt(96 / N) + 0.01
    assert abs(np.corrcoef(x[:-1], x[1:])[0, 1]) < 5 / math.sqrt(N)


@pytest.mark.values
@pytest.mark.parametrize("dtype", FLOATS)
def test_uniform_leaves_out_its_end(xr, dtype):
    x = filled(xr, "uniform", (N,), dtype, 1.0, 2.0).astype(np.float64)
    assert x.min() >= 1
    assert x.max() < 2


@pytest.mark.values
@pytest.mark.parametrize("dtype", ["bool", "u8", "i64", "f32", "bf16", "f64"])
def test_bernoulli(xr, rng, dtype):
    for p in (0.0, 0.3, 1.0):
        x = filled(xr, "bernoulli", (N,), dtype, p).astype(np.float64)
        assert set(np.unique(x)) <= {0.0, 1.0}
        assert abs(x.mean() - p) <= 5 * math.sqrt(p * (1 - p) / N)
    chances = Placed((N,), "f32", values=rng.random(N))
    out = Placed((N,), "f32")
    xr.kernels.bernoulli(out.array, chances.array, source=SEED)
    unit = (words(N, SEED[0]) >> 8).astype(np.float32) * np.float32(2**-24)
    assert_close(out.result(), (unit < chances.host).astype(np.float32))


@pytest.mark.values
@pytest.mark.parametrize("dtype", ["i32", "i64", "f32", "f64"])
def test_geometric(xr, dtype):
    x = filled(xr, "geometric", (N,), dtype, 0.25).astype(np.float64)
    assert x.min() == 1
    for k in range(1, 8):
        share = 0.25 * 0.75 ** (k - 1)
        assert abs((x == k).mean() - share) < 5 * math.sqrt(share / N)
    assert (filled(xr, "geometric", (100,), dtype, 1.0) == 1).all()


@pytest.mark.values
@pytest.mark.parametrize(
    ("low", "high"),
    [(0, 10), (-5, 5), (0, 2**40), (-(2**63), 2**63), (-3, 2**62), (0, 2**32)],
    ids=str,
)
def test_integers(xr, low, high):
    x = filled(xr, "integers", (N,), "i64", low, high)
    assert x.min() >= low
    assert x.max() < high
    share = (x.astype(np.float64) - low) / (high - low)
    assert abs(share.mean() + 0.5 / (high - low) - 0.5) < 5 / math.sqrt(12 * N)
    if high - low == 10:
        assert (np.abs(np.bincount(x - low) / N - 0.1) < 5 * math.sqrt(0.1 / N)).all()


def test_generator_moves_on(xr):
    g = xr.Generator(11)
    first, second = (filled(xr, "random_bits", (100,), "u32", source=g) for _ in range(2))
    assert g.offset == 8
    assert_close(first, words(100, 11, 0))
    assert_close(second, words(100, 11, 4))
    filled(xr, "random_bits", (100,), "u64", source=g)
    assert g.offset == 16
    xr.manual_seed(11)
    out = xr.empty(100, "u32")
    xr.kernels.random_bits(out)
    assert_close(out.numpy(), words(100, 11, 0))


def test_wrong_use(xr):
    x = xr.empty(4)
    for call, message in (
        (lambda: xr.kernels.uniform(x, 2.0, 1.0), "interval"),
        (lambda: xr.kernels.normal(x, 0.0, -1.0), "deviation"),
        (lambda: xr.kernels.exponential(x, 0.0), "rate"),
        (lambda: xr.kernels.bernoulli(x, 1.5), "probability"),
        (lambda: xr.kernels.geometric(x, 0.0), "probability"),
        (lambda: xr.kernels.integers(x, 3, 3), "low < high"),
        (lambda: xr.kernels.uniform(xr.empty(4, "i32")), "float dtype"),
        (lambda: xr.kernels.random_bits(x), "integer dtype"),
    ):
        with pytest.raises(xr.UsageError, match=message):
            call()
