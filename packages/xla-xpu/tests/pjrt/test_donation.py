"""Results are made in the memory of arguments that are given away, where nobody needs what it held."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest


def donating(function, *arrays):
    """What the function gives on xpu, which of the arguments' memory the results took, and the program."""
    arrays = [jax.device_put(a, jax.devices("xpu")[0]) for a in arrays]
    step = jax.jit(function, donate_argnums=tuple(range(len(arrays))))
    program = step.lower(*arrays).compile()
    places = [array.unsafe_buffer_pointer() for array in arrays]
    results = jax.tree.leaves(step(*arrays))
    taken = [result.unsafe_buffer_pointer() in places for result in results]
    return [np.asarray(result) for result in results], taken, program


X = np.arange(1, 4097, dtype=np.float32).reshape(64, 64)


@pytest.mark.parametrize(
    ("function", "reused"),
    [
        (lambda x, y: (x - 0.5 * y, y * 0.9), [True, True]),
        (lambda x, y: (jnp.tanh(x @ y), y), [True, True]),
        (lambda x, y: (y, x), None),
        (lambda x, y: jax.lax.fori_loop(0, 5, lambda _, p: (p[0] @ p[1], p[1]), (x, y)), None),
        (lambda x, y: (jax.lax.scan(lambda c, r: (c * 0.5 + r, None), x, y)[0], y * 2), None),
        (lambda x, y: (x[::-1] * y, x.T + y), None),
        (lambda x, y: (x.at[3].add(y[0]), y.at[:, 2].set(x[1])), None),
        (lambda x, y: (jnp.cumsum(x, 0), jnp.sort(y, 1)), None),
    ],
)
def test_numbers_are_those_without(function, reused):
    y = np.cos(X) / 64
    expected = jax.tree.leaves(jax.jit(function)(X, y))
    results, taken, _ = donating(function, X, y)
    for got, wanted in zip(results, expected, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-5)
    assert reused is None or taken == reused


def test_memory_analysis_counts_it_once():
    _, _, program = donating(lambda x: x + 1, X)
    memory = program.memory_analysis()
    assert memory.alias_size_in_bytes == memory.argument_size_in_bytes == X.nbytes


def test_a_saved_program_reuses_too(xpu):
    from jax.experimental import serialize_executable

    x = jax.device_put(X, xpu)
    program = jax.jit(lambda x: x * 2, donate_argnums=0).lower(x).compile()
    again = serialize_executable.deserialize_and_load(*serialize_executable.serialize(program))
    place = x.unsafe_buffer_pointer()
    assert again(x).unsafe_buffer_pointer() == place
