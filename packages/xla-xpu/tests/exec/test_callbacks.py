"""Python functions inside programs, and functions of the XLA FFI."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from cpu_comparison import compare_with_cpu
from jax.experimental import checkify, io_callback, serialize_executable

import xla_xpu

# What a callback is given decides what it does.
pytestmark = pytest.mark.values


def sine(x):
    return jax.pure_callback(np.sin, x, x, vmap_method="sequential")


@pytest.mark.parametrize(
    "function",
    [
        sine,
        lambda x: sine(x) + 1,
        jax.vmap(sine),
        lambda x: jax.lax.fori_loop(0, 3, lambda i, x: sine(x) * 2, x),
        lambda x: jax.lax.cond(x[0, 0] > 0, sine, lambda x: x, x),
        lambda x: jax.pure_callback(
            lambda x: (x.sum(), x > 0, np.zeros((0, 2), np.float32)),
            (x[0, 0], x > 0, jax.ShapeDtypeStruct((0, 2), np.float32)),
            x,
        ),
    ],
)
def test_pure_callback(function):
    compare_with_cpu(function, np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4))


def test_ordered_effects_come_in_order(xpu):
    seen = []

    @jax.jit
    def count(x):
        def body(i, x):
            io_callback(lambda i, x: seen.append((int(i), float(x))), None, i, x, ordered=True)
            jax.debug.callback(lambda i: seen.append(int(i)), i, ordered=True)
            return x * 2

        return jax.lax.fori_loop(0, 3, body, x)

    assert float(count(jax.device_put(np.float32(1), xpu))) == 8
    jax.effects_barrier()
    assert seen == [(0, 1.0), 0, (1, 2.0), 1, (2, 4.0), 2]


def test_ordered_calls_that_return_something(xpu):
    numbers = iter((2, 3, 5))

    @jax.jit
    def product(x):
        def body(_, x):
            one = jax.ShapeDtypeStruct((), np.float32)
            return x * 10 + io_callback(lambda: np.float32(next(numbers)), one, ordered=True)

        return jax.lax.fori_loop(0, 3, body, x)

    assert float(product(jax.device_put(np.float32(1), xpu))) == 1235


def test_io_callback_gives_values_and_keeps_what_it_gets(xpu):
    received = []

    def keep(x):
        received.append(x)
        return np.float32(len(received))

    scalar = jax.ShapeDtypeStruct((), np.float32)
    program = jax.jit(lambda x: io_callback(keep, scalar, x) + 1)
    for number in range(3):
        x = jax.device_put(np.full(100, number, np.float32), xpu)
        assert float(program(x)) == number + 2
    for number, x in enumerate(received):
        np.testing.assert_array_equal(x, np.full(100, number, np.float32))


def test_debug_print(xpu, capsys):
    jax.jit(lambda x: jax.debug.print("x is {x}", x=x))(jax.device_put(np.arange(3), xpu))
    jax.effects_barrier()
    assert "x is [0 1 2]" in capsys.readouterr().out


def test_a_function_that_raises_is_an_error_of_the_program(xpu):
    def fail(x):
        raise ValueError("not this one")

    x = jax.device_put(np.ones(3, np.float32), xpu)
    with pytest.raises(jax.errors.JaxRuntimeError, match="ValueError: not this one"):
        jax.block_until_ready(jax.jit(lambda x: jax.pure_callback(fail, x, x) + 1)(x))
    assert float(jnp.sum(x)) == 3


def test_wrong_results_are_errors(xpu):
    x = jax.device_put(np.ones(3, np.float32), xpu)
    with pytest.raises(jax.errors.JaxRuntimeError, match="shape"):
        jax.block_until_ready(jax.jit(lambda x: io_callback(lambda x: x[:2], x, x))(x))


def test_programs_with_callbacks_cannot_be_saved(xpu):
    x = jax.device_put(np.ones((2, 2), np.float32), xpu)
    program = jax.jit(sine).lower(x).compile()
    with pytest.raises(jax.errors.JaxRuntimeError, match="calls Python functions of this process"):
        serialize_executable.serialize(program)


def test_checkify(xpu):
    def checked(x):
        checkify.check(x > 0, "x is {x}", x=x)
        return jnp.log(x)

    program = jax.jit(checkify.checkify(checked))
    assert program(jax.device_put(np.float32(1), xpu))[0].get() is None
    assert "x is -1" in program(jax.device_put(np.float32(-1), xpu))[0].get()


def test_calls_are_counted(xpu):
    before = xla_xpu.host_calls().get("python callback (host)", 0)
    program = jax.jit(sine)
    for _ in range(3):
        program(jax.device_put(np.ones((2, 2), np.float32), xpu))
    assert xla_xpu.host_calls()["python callback (host)"] == before + 3
