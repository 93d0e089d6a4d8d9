"""Selection of the largest and smallest: short and long rows, few and most of them, equal ones, layouts."""

import numpy as np
import pytest
from layouts import LAYOUTS, Placed
from sorting import bits, expected_order, numbers, take
from xpu_testing import assert_close, values_checked

pytestmark = pytest.mark.usefixtures("device")


def largest(x, k, dim, smallest=False):
    order = expected_order(x, dim, not smallest)
    return np.take(order, range(k), dim) if x.ndim else order


# Rows of one group, long ones with and without a bound, many, and along another dimension.
SELECTIONS = [
    ((), 0, (1,)),
    ((1,), 0, (0, 1)),
    ((40,), 0, (0, 1, 7, 40)),
    ((6, 0), 1, (0,)),
    ((30, 500), 1, (1, 10, 499)),
    ((5, 300, 4), 1, (3,)),
    ((20_000,), 0, (1, 50, 200, 5000, 19_999, 20_000)),
    ((4, 9000), 1, (1, 100, 3000)),
    ((9000, 3), 0, (8,)),
]


@pytest.mark.parametrize(("shape", "dim", "counts"), SELECTIONS, ids=str)
@pytest.mark.parametrize("smallest", [False, True])
@pytest.mark.parametrize("dtype", ["f32", "i64", "u8"])
def test_rows(xr, rng, shape, dim, counts, smallest, dtype):
    x = Placed(shape, dtype, values=numbers(rng, shape, dtype))
    for k in counts:
        out = [*shape[:dim], k, *shape[dim + 1 :]] if shape else shape
        values, indices = Placed(out, dtype), Placed(out, "i64")
        xr.kernels.topk(values.array, indices.array, x.array, k, dim, largest=not smallest)
        order = largest(x.host, k, dim, smallest)
        assert_close(indices.result(), order)
        assert_close(bits(values.result()), bits(take(x.host, order, dim)))
        alone = Placed(out, dtype)
        xr.kernels.topk(alone.array, None, x.array, k, dim, largest=not smallest)
        assert_close(alone.result().astype(np.float64), values.result().astype(np.float64))


@pytest.mark.parametrize("dtype", ["bool", "i8", "u16", "f16", "bf16", "f32", "i64"])
@pytest.mark.parametrize("k", [3, 2000])
def test_dtypes(xr, rng, dtype, k):
    x = Placed((2, 12_000), dtype, values=numbers(rng, (2, 12_000), dtype))
    values, indices = Placed((2, k), dtype), Placed((2, k), "i32")
    xr.kernels.topk(values.array, indices.array, x.array, k)
    order = largest(x.host, k, 1)
    assert_close(indices.result(), order.astype(np.int32))
    assert_close(bits(values.result()), bits(take(x.host, order, 1)))


@pytest.mark.parametrize("k", [1, 60, 900, 7000])
def test_many_rows_together(xr, rng, k):
    x = Placed((300, 7000), "i16", values=rng.integers(-300, 300, (300, 7000)))
    indices = Placed((300, k), "i32")
    xr.kernels.topk(None, indices.array, x.array, k, largest=False)
    assert_close(indices.result(), largest(x.host, k, 1, True).astype(np.int32))


@pytest.mark.parametrize("n", [1000, 50_000])
@pytest.mark.parametrize("k", [10, 900])
def test_shapes_of_data(xr, n, k):
    ramp = np.arange(n, dtype=np.float32)
    for data in (np.full(n, 7.0), ramp, ramp[::-1], np.full(n, np.nan), ramp % 2):
        x, indices = Placed((n,), "f32", values=data), Placed((k,), "i64")
        xr.kernels.topk(None, indices.array, x.array, k)
        assert_close(indices.result(), largest(x.host, k, 0))


@pytest.mark.parametrize("smallest", [False, True])
def test_rows_of_one_key(xr, smallest):
    """A GPU deals each of the rows out to as many parties as elements are sought; no key is above a NaN's."""
    x, indices = (
        Placed((20, 20_001), "f32", values=np.full((20, 20_001), np.nan)),
        Placed((20, 256), "i32"),
    )
    xr.kernels.topk(None, indices.array, x.array, 256, largest=not smallest)
    assert_close(indices.result(), np.tile(np.arange(256, dtype=np.int32), (20, 1)))


@pytest.mark.parametrize("n", [1000, 50_000])
@pytest.mark.parametrize("k", [10, 900])
def test_unsorted(xr, rng, n, k):
    x = Placed((n,), "i32", values=rng.integers(0, 500, n))
    values, indices = Placed((k,), "i32"), Placed((k,), "i64")
    xr.kernels.topk(values.array, indices.array, x.array, k, sorted=False)
    assert_close(np.sort(indices.result()), np.sort(largest(x.host, k, 0)))
    if values_checked():
        assert_close(values.result(), x.host[indices.result()])


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("target", LAYOUTS)
def test_layouts(xr, rng, layout, target):
    x = Placed((4, 70, 3), "i16", layout, rng.integers(-9, 9, (4, 70, 3)))
    values, indices = Placed((4, 5, 3), "i16", target), Placed((4, 5, 3), "i64", target)
    xr.kernels.topk(values.array, indices.array, x.array, 5, 1)
    order = largest(x.host, 5, 1)
    assert_close(indices.result(), order)
    assert_close(values.result(), take(x.host, order, 1))


def test_wrong_use(xr):
    x = xr.zeros((3, 4))
    with pytest.raises(xr.UsageError, match="k 5, expected 0 to 4"):
        xr.kernels.topk(xr.zeros((3, 5)), None, x, 5)
    with pytest.raises(xr.UsageError, match="k -1, expected 0 to 4"):
        xr.kernels.topk(xr.zeros((3, 1)), None, x, -1)
    with pytest.raises(
        xr.UsageError, match=r"value array is f32\[3,2\].*expected the shape of f32\[3,1\]"
    ):
        xr.kernels.topk(xr.zeros((3, 2)), None, x, 1)
