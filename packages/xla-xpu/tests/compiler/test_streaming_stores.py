"""Fused computations whose results are too large for the caches, so that CPUs use streaming stores."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from cpu_comparison import compare_with_cpu

ROWS = (4099, 1040)  # more than 16 MB as float32; a row is a whole number of cache lines
UNEVEN = (4099, 1031)  # as large, but rows end within a cache line


def numbers(*shape):
    """Whole numbers from 0 to 112, so that results are exact, in bfloat16 and uint8 too."""
    return (np.arange(np.prod(shape)) % 113).astype(np.float32).reshape(shape)


PROGRAMS = {
    "one result": (lambda x: x * 2 + 1, [numbers(*UNEVEN)]),
    "results of different sizes": (
        lambda x: (x + 1, x > 50, x.astype(jnp.bfloat16)),
        [numbers(*UNEVEN)],
    ),
    "broadcast row": (lambda x, row: x - row, [numbers(*ROWS), numbers(ROWS[1])]),
    "broadcast uneven row": (lambda x, row: x - row, [numbers(*UNEVEN), numbers(UNEVEN[1])]),
    "rows of three": (lambda x: x + jnp.arange(3.0), [numbers(2 << 20, 3)]),
    "slice": (lambda x: x[1:, 3:] * 2, [numbers(*UNEVEN)]),
    "pad": (lambda x: jnp.pad(x * 2, ((1, 2), (3, 4))), [numbers(*UNEVEN)]),
    "concatenate": (lambda x: jnp.concatenate([x, x * 2], 1), [numbers(*ROWS)]),
    "transpose": (lambda x: x.T * 2, [numbers(*UNEVEN)]),
    "reverse": (lambda x: x[:, ::-1] + 1, [numbers(*ROWS)]),
    "complex": (lambda x: x * 1j, [numbers(*ROWS)]),
    "constants": (lambda: (jnp.full(ROWS, 1.5), jnp.full(ROWS, -2, jnp.int16)), []),
    "copy": (lambda x: (x, x.copy()), [numbers(*UNEVEN)]),
    "bytes": (lambda x: (x * 2).astype(jnp.uint8), [numbers(*UNEVEN).repeat(5, 0)]),  # 21 MB
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_element_is_stored(name):
    function, arguments = PROGRAMS[name]
    compare_with_cpu(function, *arguments, exact=True)


def test_result_in_donated_argument():
    x = jax.device_put(numbers(*ROWS), jax.devices("xpu")[0])
    increment = jax.jit(lambda x: x + 1, donate_argnums=0)
    np.testing.assert_array_equal(increment(increment(x)), numbers(*ROWS) + 2)


def test_cleared_programs_free_their_kernels():
    """Memory stays bounded in a process that keeps compiling programs and clearing them."""

    def compile_and_run(factor):
        function = jax.jit(lambda x: jnp.sin(x * factor).sum(0) + jnp.cos(x + factor).T[0])
        x = jax.device_put(numbers(8, 8), jax.devices("xpu")[0])
        return function(x).block_until_ready()

    def resident_bytes():
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[1]) * 4096  # pages

    factors = [0.5 + i for i in range(40)]
    for factor in factors:  # fills the kernel cache on disk, and sets up what is set up only once
        compile_and_run(factor)
    jax.clear_caches()
    before = resident_bytes()
    for _ in range(3):
        for factor in factors:
            compile_and_run(factor)
        jax.clear_caches()
    # If nothing were freed, 120 programs of 0.5 MB would add 60 MB.
    assert resident_bytes() - before < 40 << 20
