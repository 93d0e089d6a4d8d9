"""Fused computations whose results are too large for the caches, which CPUs store past them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from cpu_comparison import compare_with_cpu

ROWS = (4099, 1040)  # of floats: more than 16 MB, and rows of whole cache lines
UNEVEN = (4099, 1031)


def numbers(*shape):
    """Small whole numbers, so that the order of sums does not matter."""
    return (np.arange(np.prod(shape)) % 113).astype(np.float32).reshape(shape)


PROGRAMS = {
    "one result": (lambda x: x * 2 + 1, [numbers(*UNEVEN)]),
    "results of different sizes": (
        lambda x: (x + 1, x > 50, x.astype(jnp.bfloat16)),
        [numbers(*UNEVEN)],
    ),
    "a row beside all": (lambda x, row: x - row, [numbers(*ROWS), numbers(ROWS[1])]),
    "uneven rows": (lambda x, row: x - row, [numbers(*UNEVEN), numbers(UNEVEN[1])]),
    "short rows": (lambda x: x + jnp.arange(3.0), [numbers(2 << 20, 3)]),
    "a part": (lambda x: x[1:, 3:] * 2, [numbers(*UNEVEN)]),
    "around it": (lambda x: jnp.pad(x * 2, ((1, 2), (3, 4))), [numbers(*UNEVEN)]),
    "side by side": (lambda x: jnp.concatenate([x, x * 2], 1), [numbers(*ROWS)]),
    "turned": (lambda x: x.T * 2, [numbers(*UNEVEN)]),
    "backwards": (lambda x: x[:, ::-1] + 1, [numbers(*ROWS)]),
    "complex": (lambda x: x * 1j, [numbers(*ROWS)]),
    "a constant": (lambda: (jnp.full(ROWS, 1.5), jnp.full(ROWS, -2, jnp.int16)), []),
    "a copy": (lambda x: (x, x.copy()), [numbers(*UNEVEN)]),
    "bytes": (lambda x: (x * 2).astype(jnp.uint8), [numbers(*UNEVEN).repeat(5, 0)]),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_element_is_stored(name):
    function, arguments = PROGRAMS[name]
    compare_with_cpu(function, *arguments, exact=True)


def test_in_the_memory_of_an_argument():
    x = jax.device_put(numbers(*ROWS), jax.devices("xpu")[0])
    more = jax.jit(lambda x: x + 1, donate_argnums=0)
    np.testing.assert_array_equal(more(more(x)), numbers(*ROWS) + 2)


def test_programs_give_their_kernels_back():
    """A process that compiles on and on keeps what it uses."""

    def compiled(number):
        function = jax.jit(lambda x: jnp.sin(x * number).sum(0) + jnp.cos(x + number).T[0])
        x = jax.device_put(numbers(8, 8), jax.devices("xpu")[0])
        return function(x).block_until_ready()

    def resident():
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[1]) * 4096

    numbered = [0.5 + number for number in range(40)]
    for number in numbered:  # compiled to files, and what is set up once
        compiled(number)
    jax.clear_caches()
    before = resident()
    for _ in range(3):
        for number in numbered:
            compiled(number)
        jax.clear_caches()
    assert resident() - before < 40 << 20  # 120 programs; 0.5 MB each when they are kept
