"""Reductions: every standard one and the expression form, over any dimensions, layouts and dtypes."""

import itertools

import numpy as np
import pytest
from layouts import FLOATS, INTEGERS, LAYOUTS, NUMPY, Placed
from xpu_testing import assert_close, assert_repeatable

pytestmark = pytest.mark.usefixtures("device")

SHAPES = [
    (),
    (1,),
    (7,),
    (1000,),
    (70001,),
    (9, 40),
    (40, 9),
    (300, 500),
    (3000, 350),
    (3, 5, 7),
    (40, 3, 50),
    (2, 3, 2, 40, 2, 3),
]


def variance(x, axis, correction=1.0):
    count = np.prod([x.shape[a] for a in axis])
    with np.errstate(all="ignore"):
        return ((x - x.mean(axis, keepdims=True)) ** 2).sum(axis) / max(count - correction, 0.0)


def logsumexp(x, axis):
    top = x.max(axis, keepdims=True)
    return np.log(np.exp(x - top).sum(axis)) + top.squeeze(axis)


FLOAT_REFERENCES = {
    "sum": lambda x, axis: x.sum(axis),
    "mean": lambda x, axis: x.mean(axis),
    "prod": lambda x, axis: x.prod(axis),
    "max": lambda x, axis: x.max(axis),
    "min": lambda x, axis: x.min(axis),
    "norm1": lambda x, axis: np.abs(x).sum(axis),
    "norm2": lambda x, axis: np.sqrt((x * x).sum(axis)),
    "norm_inf": lambda x, axis: np.abs(x).max(axis),
    "norm_neg_inf": lambda x, axis: np.abs(x).min(axis),
    "norm0": lambda x, axis: (x != 0).astype(x.dtype).sum(axis),
    "sum_squares": lambda x, axis: (x * x).sum(axis),
    "logsumexp": logsumexp,
    "var": variance,
    "std": lambda x, axis: np.sqrt(variance(x, axis)),
    "norm": lambda x, axis: (np.abs(x) ** 3).sum(axis) ** (1 / 3),
}
SCALARS = {"var": [1.0], "std": [1.0], "norm": [3.0]}


def axes_of(shape):
    """Some sets of dimensions: all, each one, and the pairs."""
    n = len(shape)
    sets = [tuple(range(n))] + [(d,) for d in range(n)] + list(itertools.combinations(range(n), 2))
    return sorted(set(sets))


def left(shape, axis):
    return tuple(s for d, s in enumerate(shape) if d not in axis)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_sum_over_any_dimensions_of_any_layout(xr, rng, shape, layout):
    x = Placed(shape, "i32", layout, rng.integers(-100, 100, shape))
    for axis in axes_of(shape):
        out = Placed(left(shape, axis), "i64", "padded")
        xr.kernels.reduce("sum", out.array, x.array, axis, compute="i64")
        assert_close(out.result(), np.asarray(x.host.sum(axis, dtype=np.int64)))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", FLOAT_REFERENCES)
def test_standard_reductions(xr, rng, name, dtype):
    for shape, axis in (
        ((33, 50), (1,)),
        ((50, 33), (0,)),
        ((20, 350), (0,)),
        ((5, 70, 30), (0, 2)),
        ((40000,), (0,)),
    ):
        values = rng.uniform(0.9, 1.1, shape) if name == "prod" else rng.standard_normal(shape)
        if name == "prod" and shape == (40000,):
            values = np.where(rng.random(shape) < 0.5, -1.0, 1.0)
        x = Placed(shape, dtype, values=values)
        out = Placed(left(shape, axis), dtype)
        xr.kernels.reduce(name, out.array, x.array, axis, SCALARS.get(name, ()))
        exact = FLOAT_REFERENCES[name](x.host.astype(np.float64), axis)
        rtol = {"f16": 1.2e-3, "bf16": 8e-3, "f32": 3e-6, "f64": 1e-13}[dtype]
        atol = {"f64": 1e-11}.get(dtype, 1e-3) if name in ("sum", "mean") else 0.0
        assert_close(
            out.result().astype(np.float64), exact, rtol=rtol, atol=atol, where=f"{shape} {axis}"
        )


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize(
    "name", ["sum", "prod", "max", "min", "argmax", "argmin", "any", "all", "count_nonzero"]
)
def test_integers(xr, rng, name, dtype):
    low = 0 if dtype.startswith("u") else -3
    for shape, axis in (((33, 50), 1), ((50, 33), 0), ((70000,), 0)):
        x = Placed(shape, dtype, values=rng.integers(low, 4, shape))
        result = "bool" if name in ("any", "all") else "i64"
        out = Placed(left(shape, (axis,)), result)
        compute = "i64" if name in ("sum", "prod", "count_nonzero") else dtype
        xr.kernels.reduce(name, out.array, x.array, axis, compute=compute)
        host = x.host.astype(np.int64)
        reference = {"count_nonzero": lambda h, a: np.count_nonzero(h, axis=a)}.get(name)
        expected = reference(host, axis) if reference else getattr(np, name)(host, axis=axis)
        assert_close(out.result(), np.asarray(expected, NUMPY[result]))


@pytest.mark.parametrize("name", ["sum", "any", "all", "max", "min", "argmax"])
def test_booleans(xr, rng, name):
    x = Placed((60, 41), "bool", "transposed", rng.random((60, 41)) < 0.05)
    result = {"sum": "i64", "argmax": "i64"}.get(name, "bool")
    out = Placed((60,), result)
    xr.kernels.reduce(name, out.array, x.array, 1, compute="i64" if name == "sum" else "bool")
    assert_close(out.result(), np.asarray(getattr(np, name)(x.host, axis=1), NUMPY[result]))


@pytest.mark.parametrize("dtype", ["c64", "c128"])
def test_complex_sum(xr, rng, dtype):
    x = Placed(
        (30, 50), dtype, values=rng.standard_normal((30, 50)) + 1j * rng.standard_normal((30, 50))
    )
    out = Placed((30,), dtype)
    xr.kernels.reduce("sum", out.array, x.array, 1)
    assert_close(out.result(), x.host.sum(1), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_the_first_of_equal_values_wins(xr, rng, name, layout):
    for shape in ((90, 70), (4000, 20), (300001,)):
        x = Placed(shape, "i16", layout, rng.integers(0, 4, shape))
        for axis in range(len(shape)):
            out = Placed(left(shape, (axis,)), "i64")
            xr.kernels.reduce(name, out.array, x.array, axis)
            assert_close(out.result(), np.asarray(getattr(x.host, name)(axis)))
        flat = Placed((), "i64")
        xr.kernels.reduce(name, flat.array, x.array)
        assert_close(flat.result(), np.asarray(getattr(np.ascontiguousarray(x.host), name)()))


def test_value_and_place(xr, rng):
    x = Placed((50, 80), "bf16", values=rng.standard_normal((50, 80)))
    value, place = Placed((50, 1), "bf16"), Placed((50, 1), "i64")
    xr.kernels.reduce("max_with_index", [value.array, place.array], x.array, -1)
    assert_close(
        value.result(), x.host.astype(np.float32).max(1, keepdims=True).astype(NUMPY["bf16"])
    )
    assert_close(place.result(), x.host.astype(np.float32).argmax(1)[:, None])


@pytest.mark.values
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(64,), (100000,)], ids=str)
@pytest.mark.parametrize(
    "name", ["sum", "prod", "mean", "max", "min", "var", "norm2", "norm_inf", "logsumexp"]
)
def test_nan_comes_through(xr, rng, name, shape, dtype):
    values = rng.random(shape)
    values[shape[0] * 2 // 3] = np.nan
    x, out = Placed(shape, dtype, values=values), Placed((), dtype)
    xr.kernels.reduce(name, out.array, x.array, 0, SCALARS.get(name, ()))
    assert np.isnan(out.result().astype(np.float64))


@pytest.mark.values
@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_the_first_nan_is_the_extreme(xr, rng, name):
    values = rng.standard_normal((3, 200))
    values[0, 150] = values[0, 20] = np.nan
    values[1] = -np.inf
    values[2] = np.inf
    x, out = Placed((3, 200), "f32", values=values), Placed((3,), "i64")
    xr.kernels.reduce(name, out.array, x.array, 1)
    assert list(out.result()) == [20, 0, 0]


@pytest.mark.values
def test_nansum_leaves_nan_out(xr):
    x, out = Placed((4,), "f32", values=[1, np.nan, 2, np.nan]), Placed((), "f32")
    xr.kernels.reduce("nansum", out.array, x.array)
    assert out.result() == 3


@pytest.mark.values
def test_logsumexp_of_infinities(xr):
    rows = [
        [-np.inf, -np.inf, -np.inf],
        [np.inf, 0, 1],
        [-np.inf, 0, 0],
        [1e30, 1e30, -1e30],
        [np.inf, np.inf, -np.inf],
    ]
    x, out = Placed((5, 3), "f32", values=rows), Placed((5,), "f32")
    xr.kernels.reduce("logsumexp", out.array, x.array, 1)
    assert_close(
        out.result(), np.array([-np.inf, np.inf, np.log(2), 1e30, np.inf], np.float32), rtol=1e-6
    )


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("sum", 0.0),
        ("prod", 1.0),
        ("mean", np.nan),
        ("max", -np.inf),
        ("norm2", 0.0),
        ("logsumexp", -np.inf),
    ],
)
def test_no_elements_give_the_identity(xr, name, expected):
    for shape, axis in (((5, 0), 1), ((0, 5), 0), ((0,), 0)):
        x = Placed(shape, "f32")
        out = Placed(left(shape, (axis,)), "f32")
        xr.kernels.reduce(name, out.array, x.array, axis)
        assert_close(out.result(), np.full(left(shape, (axis,)), expected, np.float32))


def test_no_results(xr):
    x, out = Placed((0, 5), "f32"), Placed((0,), "f32")
    xr.kernels.reduce("sum", out.array, x.array, 1)
    assert out.result().shape == (0,)


@pytest.mark.values
def test_variance_of_one_element_is_not_a_number(xr):
    x, out, mean = (
        Placed((3, 1), "f32", values=[[1], [2], [3]]),
        Placed((3,), "f32"),
        Placed((3,), "f32"),
    )
    xr.kernels.reduce("var_mean", [out.array, mean.array], x.array, 1, [1.0])
    assert np.isnan(out.result()).all()
    assert list(mean.result()) == [1, 2, 3]


@pytest.mark.values
def test_variance_far_from_zero(xr, rng):
    x, out = Placed((200000,), "f32", values=10000 + rng.standard_normal(200000)), Placed((), "f32")
    xr.kernels.reduce("var", out.array, x.array, scalars=[0.0])
    assert_close(
        out.result().astype(np.float64), np.asarray(x.host.astype(np.float64).var()), rtol=1e-3
    )


@pytest.mark.values
def test_narrow_floats_add_up_in_float(xr):
    for dtype in ("f16", "bf16"):
        x, out = Placed((30000,), dtype, values=1.0), Placed((), "f32")
        xr.kernels.reduce("sum", out.array, x.array)
        assert out.result() == 30000


def test_reduced_dimensions_kept_or_left_out(xr, rng):
    x = Placed((4, 50, 6), "f32", values=rng.integers(0, 9, (4, 50, 6)))
    for shape in ((4, 6), (4, 1, 6)):
        out = Placed(shape, "f32", "transposed")
        xr.kernels.reduce("sum", out.array, x.array, [-2])
        assert_close(out.result(), x.host.sum(1).reshape(shape))


def test_several_inputs_and_scalars(xr, rng):
    dot = xr.kernels.Reduction(
        "dot", [("T", "0")], "p0 * a0 * a1", "s0 += r0;", "s0", inputs=2, scalars=1
    )
    x = Placed((30, 70), "f32", values=rng.integers(-3, 4, (30, 70)))
    y = Placed((70,), "i8", values=rng.integers(-3, 4, 70))
    out = Placed((30,), "f32")
    dot(out.array, [x.array, y.array], 1, [2])
    assert_close(out.result(), (2 * x.host * y.host).sum(1).astype(np.float32))


@pytest.mark.parametrize("shape", [(70001,), (100, 40), (40, 100), (3, 5, 7)], ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_index_is_row_major_in_any_layout(xr, shape, layout):
    weigh = xr.kernels.Reduction(
        "weigh", [("i64", "0")], "(i64)index * (a0 == 1)", "s0 += r0;", "s0", uses_index=True
    )
    x = Placed(shape, "u8", layout, values=1)
    out = Placed((), "i64")
    weigh(out.array, x.array)
    assert_close(out.result(), np.asarray(np.arange(x.host.size).sum()))


def test_a_sum_over_more_elements_than_31_bits(xr):
    """Four milliard elements of one byte of memory."""
    n = 2**32 + 5
    one = xr.from_numpy(np.ones(1, np.uint8))
    out = Placed((), "i64")
    xr.kernels.reduce("sum", out.array, one.view((n,), (0,)), compute="i64")
    assert_close(out.result(), np.asarray(n))


def test_offsets_beyond_31_bits(xr):
    far = xr.empty((2**31 + 4096,), "u8").view((3, 40), (2**30, 1))
    values = np.arange(120, dtype=np.uint8).reshape(3, 40)
    xr.kernels.copy(far, xr.from_numpy(values))
    for axis in ((0,), (1,), (0, 1)):
        out = Placed(left((3, 40), axis), "i64")
        xr.kernels.reduce("sum", out.array, far, axis, compute="i64")
        assert_close(out.result(), np.asarray(values.sum(axis, dtype=np.int64)))


@pytest.mark.parametrize("name", ["sum", "var", "logsumexp", "norm2"])
@pytest.mark.parametrize("shape", [(1000003,), (4000, 70), (70, 4000)], ids=str)
def test_a_run_repeats_bit_for_bit(xr, rng, name, shape):
    x = Placed(shape, "f32", values=rng.standard_normal(shape))

    def run():
        out = Placed(shape[1:], "f32")
        xr.kernels.reduce(name, out.array, x.array, 0, SCALARS.get(name, ()))
        return out.result()

    assert_repeatable(run, times=4)


def test_every_standard_reduction_is_tested(xr):
    tested = {*FLOAT_REFERENCES, "argmax", "argmin", "any", "all", "count_nonzero", "nansum"}
    tested |= {"max_with_index", "min_with_index", "var_mean", "std_mean"}
    assert set(xr.kernels.reductions()) == tested


def test_pairs(xr, rng):
    x = Placed((20, 90), "f32", values=rng.standard_normal((20, 90)))
    value, place = Placed((20,), "f32"), Placed((20,), "i64")
    xr.kernels.reduce("min_with_index", [value.array, place.array], x.array, 1)
    assert_close(value.result(), x.host.min(1))
    assert_close(place.result(), x.host.argmin(1))
    std, mean = Placed((20,), "f32"), Placed((20,), "f32")
    xr.kernels.reduce("std_mean", [std.array, mean.array], x.array, 1, [0.0])
    assert_close(std.result(), x.host.std(1), rtol=1e-5)
    assert_close(mean.result(), x.host.mean(1), rtol=1e-5, atol=1e-6)


def test_bad_calls_say_what_is_wrong(xr):
    x, out = xr.zeros((4, 5)), xr.zeros((4,))
    reduce = xr.kernels.reduce
    with pytest.raises(xr.UsageError, match=r'got "median", expected one of .*argmax'):
        reduce("median", out, x)
    with pytest.raises(xr.UsageError, match=r"dimension 2 is not one of f32\[4,5\]"):
        reduce("sum", out, x, 2)
    with pytest.raises(xr.UsageError, match="dimension -1 is given twice"):
        reduce("sum", out, x, [1, -1])
    with pytest.raises(
        xr.UsageError, match=r"output 0 is f32\[4\].*without the reduced dimensions"
    ):
        reduce("sum", out, x, 0)
    with pytest.raises(xr.UsageError, match="got 0 scalars, expected 1"):
        reduce("var", out, x, 1)
    with pytest.raises(xr.UsageError, match="elements overlap"):
        reduce("sum", out.view((4,), (0,)), x, 1)
    with pytest.raises(xr.UsageError, match="got 0 expressions in map"):
        xr.kernels.Reduction("bad", [("T", "0")], [], "s0 += r0;", "s0")
    with pytest.raises(xr.UsageError, match="got 65 dimensions"):
        reduce("sum", out, x.view((1,) * 65, (1,) * 65))


@pytest.mark.parametrize("shape", [(2,) * 18, (1, 2) * 15, (2,) * 26], ids=["18", "30", "26"])
def test_many_dimensions(xr, rng, shape):
    x = Placed(shape, "i32" if len(shape) == 26 else "f32", values=rng.integers(-3, 4, shape))
    every_other = tuple(range(0, len(shape), 2))
    result_shape = tuple(size for d, size in enumerate(shape) if d % 2)
    out = Placed(result_shape, "f32", "transposed")
    xr.kernels.reduce("sum", out.array, x.array, every_other)
    assert_close(out.result(), x.host.sum(every_other, dtype="f4"))
    place = Placed(tuple(1 if d % 2 == 0 else size for d, size in enumerate(shape)), "i64")
    xr.kernels.reduce("argmax", place.array, x.array, every_other)
    rows = np.moveaxis(x.host, every_other, range(len(result_shape), len(shape))).reshape(
        *result_shape, -1
    )
    assert_close(place.result().reshape(result_shape), rows.argmax(-1))
