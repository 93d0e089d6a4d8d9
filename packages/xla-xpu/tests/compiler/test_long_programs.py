"""Programs of thousands of operations or arguments: the compiler does not go deeper with them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from cpu_comparison import compare_with_cpu
from jax import lax

X = np.arange(4, dtype=np.float32)


def chain(x):
    for number in range(1500):
        x = x * np.float32(0.5) + number
    return x


def padded(x):
    for number in range(300):
        x = jnp.pad(x[1:], (0, 1), constant_values=number)
    return x


def joined(x):
    for _ in range(300):
        x = jnp.concatenate([x[1:], x[:1] * 2 - 1])
    return x


def sliced(x):
    start = 0
    for _ in range(80):
        part = lax.dynamic_slice(x, (start,), (2,))
        start = part[0].astype(int) % 2
        x = jnp.concatenate([part, part + 1])
    return x


def transposed(x):
    x = x.reshape(2, 2)
    for _ in range(1200):
        x = lax.rev(x.T, (0,))
    return x + 1


@pytest.mark.parametrize("program", [chain, padded, joined, sliced])
def test_long_programs(program):
    compare_with_cpu(program, X)


def updated(count):
    def program(x):
        for number in range(count):
            at = x.at[number]
            x = at.set(x[-number] * 0.5) if number % 2 else at.add(x[number * 3 % 50])
        return x

    return program


def test_updates_in_a_row():
    compare_with_cpu(updated(150), np.arange(400, dtype=np.float32))


def test_what_differs_in_places_has_one_kernel(xpu):
    x = jax.device_put(np.arange(400, dtype=np.float32), xpu)

    def code(count):
        compiled = jax.jit(updated(count)).lower(x).compile()
        return compiled.memory_analysis().generated_code_size_in_bytes

    assert code(120) < 1.2 * code(60)


def test_views_of_views(xpu):
    # JAX's CPU ends the process.
    np.testing.assert_array_equal(jax.jit(transposed)(jax.device_put(X, xpu)).reshape(-1), X + 1)


def test_many_arguments(xpu):
    arguments = [jax.device_put(np.float32(number), xpu) for number in range(1500)]
    np.testing.assert_array_equal(jax.jit(lambda x: sum(x))(arguments), 1500 * 1499 / 2)
    results = jax.jit(lambda x: [one + 1 for one in x])(arguments)
    np.testing.assert_array_equal([float(result) for result in results], range(1, 1501))
