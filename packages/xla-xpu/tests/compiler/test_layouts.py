"""Arrays whose dimensions are in another order in memory than the usual one."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental.layout import Format, Layout, with_layout_constraint
from jax.sharding import SingleDeviceSharding

pytestmark = pytest.mark.values

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
ORDERS = [(0, 1, 2), (2, 1, 0), (1, 0, 2), (2, 0, 1)]


def ordered(xpu, order):
    return Format(Layout(order), SingleDeviceSharding(xpu))


def order_of(array):
    return array.format.layout.major_to_minor


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("dtype", ["float32", "int8", "bool", "bfloat16", "int4", "complex64"])
def test_put_and_read(xpu, order, dtype):
    x = (X % 7).astype(dtype)
    y = jax.device_put(x, ordered(xpu, order))
    assert order_of(y) == order
    np.testing.assert_array_equal(np.asarray(y), x)
    np.testing.assert_array_equal(np.asarray(jax.device_put(x.T, ordered(xpu, order))), x.T)
    for other in ORDERS:
        moved = jax.device_put(y, ordered(xpu, other))
        assert order_of(moved) == other
        np.testing.assert_array_equal(np.asarray(moved), x)


@pytest.mark.parametrize("order", ORDERS)
def test_programs(xpu, order):
    """One in, one out, both, and one operation at a time."""
    place, y = ordered(xpu, order), jax.device_put(X, ordered(xpu, order))
    usual = jax.device_put(X, xpu)

    def function(x):
        return jnp.tanh(x) + x.sum(1, keepdims=True)

    expected = np.asarray(jax.jit(function)(usual))
    for given, options in (
        (y, {}),
        (usual, {"out_shardings": place}),
        (y, {"in_shardings": place, "out_shardings": place}),
        (y, {"in_shardings": place, "out_shardings": place, "donate_argnums": 0}),
        (X, {"in_shardings": place}),
    ):
        got = jax.jit(function, **options)(given)
        assert order_of(got) == (order if "out_shardings" in options else (0, 1, 2))
        np.testing.assert_allclose(np.asarray(got), expected, rtol=1e-6)
    assert y.is_deleted()
    y = jax.device_put(X, place)
    np.testing.assert_array_equal(np.asarray(y + 1), X + 1)
    np.testing.assert_array_equal(np.asarray(y @ usual.mT), X @ X.mT)


def test_the_compiler_chooses(xpu):
    """A transposed result has the layout of its source."""
    auto, shape = Format(Layout.AUTO), jax.ShapeDtypeStruct((2, 3, 4), np.float32)
    shape = jax.ShapeDtypeStruct((2, 3, 4), np.float32, sharding=SingleDeviceSharding(xpu))
    for permutation in ((2, 1, 0), (1, 2, 0)):

        def function(x, permutation=permutation):
            return (x * 2).transpose(permutation)

        options = {"in_shardings": auto, "out_shardings": auto}
        compiled = jax.jit(function, **options).lower(shape).compile()
        assert compiled.input_formats[0][0].layout.major_to_minor == (0, 1, 2)
        order = compiled.output_formats.layout.major_to_minor
        assert tuple(permutation[dim] for dim in order) == (0, 1, 2)
        y = compiled(jax.device_put(X, xpu))
        assert order_of(y) == order
        np.testing.assert_array_equal(np.asarray(y), (2 * X).transpose(permutation))


def test_a_program_says_the_order(xpu):
    program = jax.jit(lambda x: with_layout_constraint(x * 2, Layout((1, 2, 0))))
    y = program(jax.device_put(X, xpu))
    assert order_of(y) == (1, 2, 0)
    np.testing.assert_array_equal(np.asarray(y), X * 2)


def test_compiled_programs_want_the_order_they_were_made_for(xpu):
    y = jax.device_put(X, ordered(xpu, (2, 1, 0)))
    compiled = jax.jit(lambda x: x + 1).lower(y).compile()
    np.testing.assert_array_equal(np.asarray(compiled(y)), X + 1)
    usual = jax.device_put(X, xpu)
    for program, other in (
        (compiled, usual),
        (jax.jit(lambda x: x + 1).lower(usual).compile(), y),
        (jax.jit(lambda x: x + 1).lower(jax.ShapeDtypeStruct(X.shape, X.dtype)).compile(), y),
    ):
        with pytest.raises(ValueError, match="disagree with the layouts of arguments"):
            program(other)
    # Whoever calls the executable itself has the array transposed for it.
    (z,) = compiled.runtime_executable().execute([jax.device_put(X, xpu)])
    np.testing.assert_array_equal(np.asarray(z), X + 1)


def test_kinds_of_memory_and_copies(xpu):
    y = jax.device_put(X, ordered(xpu, (2, 0, 1)))
    host = jax.device_put(y, jax.memory.Space.Host) if hasattr(jax, "memory") else y
    np.testing.assert_array_equal(np.asarray(host), X)
    np.testing.assert_array_equal(np.asarray(jnp.copy(y)), X)
    np.testing.assert_array_equal(np.asarray(jax.device_put(y, jax.devices("cpu")[0])), X)


def test_dlpack(xpu):
    """The memory is shared with its strides; what comes in lies in the usual order."""
    y = jax.device_put(X, ordered(xpu, (2, 0, 1)))
    again = jax.dlpack.from_dlpack(y)
    np.testing.assert_array_equal(np.asarray(again), X)
    assert order_of(again) == (0, 1, 2)


def test_arrays_without_elements(xpu):
    for shape in ((2, 0), (0,), (0, 3, 2)):
        order = tuple(reversed(range(len(shape))))
        for place in (xpu, ordered(xpu, order)):
            y = jax.device_put(np.zeros(shape, np.float32), place)
            assert np.asarray(y + 1).shape == shape


@pytest.mark.parametrize("layout", [Layout((0, 1, 2), tiling=((8, 128),))])
def test_tiles_are_refused(xpu, layout):
    place = Format(layout, SingleDeviceSharding(xpu))
    for use in (
        lambda: jax.device_put(X, place),
        lambda: jax.jit(lambda x: x * 2, out_shardings=place)(X),
        lambda: jax.jit(lambda x: x * 2, in_shardings=place).lower(X).compile(),
    ):
        with pytest.raises(jax.errors.JaxRuntimeError, match=r"UNIMPLEMENTED.*no tiled layouts"):
            use()


@pytest.mark.cpu_device
def test_several_devices(child):
    code = """
    import jax, numpy as np
    from jax.experimental.layout import Format, Layout, with_layout_constraint
    from jax.sharding import AxisType, NamedSharding, PartitionSpec as P
    mesh = jax.make_mesh((2, 2), ("x", "y"), axis_types=(AxisType.Auto,) * 2)
    place, other = NamedSharding(mesh, P("x", "y")), NamedSharding(mesh, P("y", "x"))
    x = np.arange(128, dtype="float32").reshape(8, 16)
    transposed = jax.device_put(x, Format(Layout((1, 0)), place))
    auto = Format(Layout.AUTO)
    compiled = jax.jit(lambda x: x.T, out_shardings=auto).lower(jax.device_put(x, place)).compile()
    assert compiled.output_formats.layout.major_to_minor == (1, 0)
    y = compiled(jax.device_put(x, place))
    assert y.sharding.is_equivalent_to(other, 2), y.sharding
    np.testing.assert_array_equal(y, x.T)
    said = jax.jit(lambda x: with_layout_constraint(x * 2, Layout((1, 0))))
    for given in (x, transposed, jax.device_put(x, place)):
        for program in (lambda x: x @ x.T, lambda x: x.sum(0)):
            np.testing.assert_allclose(jax.jit(program)(given), program(x), rtol=1e-6)
        np.testing.assert_array_equal(said(given), x * 2)
        assert said(given).format.layout.major_to_minor == (1, 0)
    assert "all-gather" not in said.lower(transposed).compile().as_text()
    """
    child(code, env={"XPU_CPU_DEVICES": "4"}).check()
