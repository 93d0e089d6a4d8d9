"""Masks: positions, selections and replacements, of every dtype and layout."""

import numpy as np
import pytest
from layouts import FLOATS, INTEGERS, LAYOUTS, NUMPY, Placed
from xpu_testing import assert_close

pytestmark = pytest.mark.usefixtures("device")

SHAPES = [(), (0,), (1,), (5,), (40_000,), (300, 7), (4, 0, 3), (20, 30, 11), (1, 2, 3, 4, 5)]


def sparse(rng, shape, dtype, share=0.3):
    """A mask whose zeros are negative where there is such a thing."""
    chosen = rng.random(shape) < share
    mask = np.asarray(chosen, NUMPY[dtype])
    if dtype in (*FLOATS, "c64", "c128"):
        mask = np.where(chosen, mask, -np.zeros_like(mask))
    return mask


# How many are chosen is read back, which is not a number on a device that computes nothing.
@pytest.mark.values
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", ["bool", "f32"])
def test_nonzero(xr, rng, shape, dtype):
    mask = Placed(shape, dtype, values=sparse(rng, shape, dtype))
    assert_close(xr.kernels.nonzero(mask.array).numpy(), np.argwhere(mask.host))


@pytest.mark.values
@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 1.0])
@pytest.mark.parametrize("length", [5, 63, 64, 1027, 50_001])
@pytest.mark.parametrize("offset", range(4))
def test_bytes_of_any_address(xr, rng, share, length, offset):
    """Aligned masks of one byte are read as words, with a rest."""
    values = rng.random(length) < share
    whole = Placed(
        (offset + length,), "bool", values=np.concatenate([np.ones(offset, bool), values])
    )
    got = xr.kernels.nonzero(whole.array.view((length,), (1,), offset)).numpy()
    assert_close(got, np.argwhere(values))


@pytest.mark.values
def test_positions_that_31_bits_do_not_hold(xr):
    """In a dimension of more than 2^30, where a place in a chunk could not be added to its beginning."""
    length, places = 2**31 + 70, [0, 2**30 + 1, 2**31 - 1, 2**31 + 69]
    mask = xr.empty((1, length), "u8")
    xr.kernels.fill(mask, 0)
    for place in places:
        xr.kernels.fill(mask.view((1,), (1,), place), 1)
    got = xr.kernels.nonzero(mask).numpy()
    assert_close(got, np.array([[0, place] for place in places]))


@pytest.mark.parametrize("dtype", ["bool", *INTEGERS, *FLOATS, "c64", "c128", "f8e4m3", "f8e5m2"])
@pytest.mark.parametrize("position", ["i32", "i64"])
def test_positions_of_dtypes(xr, rng, dtype, position):
    values = sparse(rng, (70, 40), dtype)
    if dtype in FLOATS:
        values[3, 5] = np.nan
    mask = Placed((70, 40), dtype, values=values)
    expected = np.argwhere(mask.host.astype(NUMPY[dtype]) != 0)
    out = Placed(expected.shape, position)
    xr.kernels.nonzero(mask.array, out.array)
    assert_close(out.result(), expected.astype(NUMPY[position]))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("target", LAYOUTS)
def test_layouts(xr, rng, layout, target):
    mask = Placed((30, 50), "bool", layout, sparse(rng, (30, 50), "bool"))
    x = Placed((30, 50), "f32", layout, rng.standard_normal((30, 50)))
    expected = np.argwhere(mask.host)
    positions, values = (
        Placed(expected.shape, "i64", target),
        Placed((len(expected),), "f32", target),
    )
    xr.kernels.nonzero(mask.array, positions.array)
    xr.kernels.masked_select(x.array, mask.array, values.array)
    assert_close(positions.result(), expected)
    assert_close(values.result(), x.host[mask.host])
    out = Placed((30, 50), "f32", target, rng.standard_normal((30, 50)))
    source = Placed((50, 40), "f32", layout, rng.standard_normal((50, 40)))
    replaced = out.host.copy()
    replaced[mask.host] = source.host.reshape(-1)[: len(expected)]
    xr.kernels.masked_scatter(out.array, mask.array, source.array)
    assert_close(out.result(), replaced)


@pytest.mark.parametrize("rows", [0, 10, 2000])
def test_outputs_of_another_size(xr, rng, rows):
    mask = Placed((90, 40), "bool", values=sparse(rng, (90, 40), "bool"))
    expected = np.argwhere(mask.host)
    out, values = Placed((rows, 2), "i64"), Placed((rows,), "bool")
    positions, ones = out.host.copy(), values.host.copy()
    positions[: len(expected)] = expected[:rows]
    ones[: len(expected)] = True
    xr.kernels.nonzero(mask.array, out.array)
    xr.kernels.masked_select(mask.array, mask.array, values.array)
    assert_close(out.result(), positions)
    assert_close(values.result(), ones)


@pytest.mark.values
@pytest.mark.parametrize("dtype", ["bool", "i8", "f16", "i32", "f64", "c128"])
@pytest.mark.parametrize("share", [0.0, 0.001, 1.0])
def test_masked_select(xr, rng, dtype, share):
    mask = Placed((200, 30), "u8", values=sparse(rng, (200, 30), "u8", share))
    x = Placed((30,), dtype, values=rng.integers(0, 2, 30))
    got = xr.kernels.masked_select(x.array, mask.array)
    assert_close(got.numpy(), np.broadcast_to(x.host, (200, 30))[mask.host != 0])


@pytest.mark.values
def test_a_source_too_short_is_a_fault(xr):
    out = Placed((10,), "f32", values=np.zeros(10))
    xr.kernels.masked_scatter(
        out.array, xr.from_numpy(np.ones(10, bool)), xr.from_numpy(np.ones(9, np.float32))
    )
    with pytest.raises(
        xr.KernelFault, match=r"masked_scatter .*: chosen element 9.*the source has 9"
    ):
        xr.synchronize()
    assert_close(out.result(), np.array([1] * 9 + [0], np.float32))


def test_a_count_is_never_out_of_bounds(xr):
    # Nor where what is read back is whatever was in memory.
    for n in (1, 1000):
        assert xr.kernels.nonzero(xr.zeros(n)).shape[0] <= n
        assert xr.kernels.masked_select(xr.zeros(n), xr.zeros(n)).shape[0] <= n


def test_wrong_use(xr):
    x = xr.zeros((3, 4))
    with pytest.raises(xr.UsageError, match=r"the output is f32.*expected i64 or i32"):
        xr.kernels.nonzero(x, xr.zeros((3, 2)))
    with pytest.raises(xr.UsageError, match="expected two dimensions, the second of size 2"):
        xr.kernels.nonzero(x, xr.zeros((3, 3), "i64"))
    with pytest.raises(xr.UsageError, match="does not broadcast"):
        xr.kernels.masked_select(x, xr.zeros(3), xr.zeros(3))
    with pytest.raises(xr.UsageError, match="expected one dimension and the dtype of"):
        xr.kernels.masked_select(x, x, xr.zeros(3, "i32"))
    with pytest.raises(
        xr.UsageError, match=r"masked_scatter: the output is .*expected the shape of"
    ):
        xr.kernels.masked_scatter(x, xr.zeros(4), x)
