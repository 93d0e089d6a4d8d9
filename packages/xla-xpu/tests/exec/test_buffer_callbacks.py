"""Python functions that are given the device's own memory."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import xla_xpu

buffer_callback = pytest.importorskip("jax.experimental.buffer_callback").buffer_callback

# What a function is given decides what it does.
pytestmark = pytest.mark.values

X = np.arange(12, dtype=np.float32).reshape(3, 4)


def called(function, *args, results=None, **options):
    """What a function of NumPy arrays, or of whatever it makes of buffers, leaves in its results."""
    like = jax.ShapeDtypeStruct(X.shape, X.dtype) if results is None else results
    return jax.jit(buffer_callback(function, like, **options))(*args)


def test_arrays_are_filled_in_place(xpu):
    def add_one(context, out, x):
        np.asarray(out)[...] = np.asarray(x) + 1

    before = xla_xpu.host_calls().get("python buffer callback", 0)
    np.testing.assert_array_equal(called(add_one, jax.device_put(X, xpu)), X + 1)
    assert xla_xpu.host_calls()["python buffer callback"] == before + 1


def test_trees_names_and_types(xpu):
    def function(context, out, x, *, y):
        np.asarray(out["sum"])[...] = np.asarray(x[0]).sum() + np.asarray(y)
        np.asarray(out["many"][0])[...] = np.asarray(x[1])[::-1]
        assert np.asarray(out["many"][1]).size == 0
        assert (x[0].shape, x[0].dtype, x[0].ndim) == (X.shape, X.dtype, 2)
        assert (x[0].writeable, out["sum"].writeable) == (False, True)
        with pytest.raises(ValueError, match="read-only"):
            np.asarray(x[0])[0] = 0

    results = {
        "sum": jax.ShapeDtypeStruct((), np.float32),
        "many": [
            jax.ShapeDtypeStruct((5,), jnp.bfloat16),
            jax.ShapeDtypeStruct((0, 2), np.int8),
        ],
    }
    five = jnp.arange(5, dtype=jnp.bfloat16)
    function = jax.jit(buffer_callback(function, results))
    got = function((jax.device_put(X, xpu), five), y=jax.device_put(np.float32(3), xpu))
    assert float(got["sum"]) == X.sum() + 3
    np.testing.assert_array_equal(got["many"][0], five[::-1])
    assert got["many"][1].shape == (0, 2)


def test_memory_of_the_device_by_dlpack(xpu):
    torch = pytest.importorskip("torch")

    def negate(context, out, x):
        given, taken = torch.from_dlpack(x), torch.from_dlpack(out)
        assert (given.device.type, taken.device.type) == ("xpu", "xpu")
        assert context.stream == torch.xpu.current_stream().sycl_queue
        torch.neg(given, out=taken)

    function = buffer_callback(negate, jax.ShapeDtypeStruct(X.shape, X.dtype))

    def program(x):
        # Between computations of the program, and in its turn each time round.
        return jax.lax.fori_loop(0, 3, lambda i, x: function(x * 2) + 1, x) - 1

    expected = X
    for _ in range(3):
        expected = 1 - 2 * expected
    got = jax.jit(program)(jax.device_put(X, xpu))
    np.testing.assert_array_equal(got, expected - 1)


def test_results_that_are_arguments(xpu):
    def first_row(context, out, x):
        np.asarray(out)[0] = -1

    x = jax.device_put(X, xpu)
    got = called(first_row, x, input_output_aliases={0: 0})
    np.testing.assert_array_equal(got, np.concatenate([np.full((1, 4), -1), X[1:]]))
    np.testing.assert_array_equal(x, X)


def test_vmap(xpu):
    def total(context, out, x):
        np.asarray(out)[...] = np.asarray(x).sum()

    each = buffer_callback(total, jax.ShapeDtypeStruct((), np.float32), vmap_method="sequential")
    np.testing.assert_array_equal(jax.vmap(each)(jax.device_put(X, xpu)), X.sum(1))


@pytest.mark.parametrize(
    ("function", "what"),
    [
        (lambda context, out, x: 1, "must not return any values"),
        (lambda context, out, x: {}["nothing"], "KeyError"),
        (lambda context, out, x: np.array(out, copy=False), "without a copy"),
        (lambda context, out, x: (np.asarray(out), out.__dlpack__())[:0] or None, "already"),
        (lambda context, out, x: (out.__dlpack__(), np.asarray(out))[:0] or None, "by DLPack"),
    ],
)
def test_errors_say_what_is_wrong(xpu, function, what):
    with pytest.raises(jax.errors.JaxRuntimeError, match=what):
        called(function, jax.device_put(X, xpu)).block_until_ready()


def test_buffers_end_with_the_call(xpu):
    saved = []
    called(lambda context, out, x: saved.append(x), jax.device_put(X, xpu)).block_until_ready()
    with pytest.raises(RuntimeError, match="has ended"):
        np.asarray(saved[0])
    with pytest.raises(RuntimeError, match="has ended"):
        saved[0].__dlpack__()


@pytest.mark.cpu_device
def test_each_device_has_its_own(child):
    child(
        """
        import jax, numpy as np
        from jax.experimental.buffer_callback import buffer_callback
        from jax.sharding import NamedSharding, PartitionSpec as P
        mesh, seen = jax.make_mesh((2,), ("d",)), []

        def number(context, out, x):
            device = x.__dlpack_device__()[1]
            seen.append(device)
            np.asarray(out)[...] = np.asarray(x) + 10 * device

        one = buffer_callback(number, jax.ShapeDtypeStruct((2,), np.float32))
        program = jax.jit(jax.shard_map(one, mesh=mesh, in_specs=P("d"), out_specs=P("d")))
        x = np.arange(4, dtype=np.float32)
        got = program(jax.device_put(x, NamedSharding(mesh, P("d"))))
        np.testing.assert_array_equal(got, [0, 1, 12, 13])
        assert sorted(seen) == [0, 1], seen
        """,
        env={"XPU_CPU_DEVICES": "2"},
    ).check()
