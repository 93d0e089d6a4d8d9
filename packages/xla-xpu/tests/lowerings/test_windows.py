"""Reductions of windows, cumulative ones, and the gradients of pooling."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from cpu_comparison import compare_with_cpu
from jax import lax

REDUCERS = {
    "sum": (lambda x, *w, **k: lax.reduce_window(x, 0, lax.add, *w, **k)),
    "max": (lambda x, *w, **k: lax.reduce_window(x, -jnp.inf, lax.max, *w, **k)),
    "own": (
        lambda x, *w, **k: lax.reduce_window(x, 0.0, lambda a, b: a + b + a * b * 0.1, *w, **k)
    ),
}
# window, strides, padding, and more
WINDOWS = {
    "small": ((1, 3, 3), (1, 2, 1), "SAME", {}),
    "dilated": ((1, 3, 2), (1, 1, 2), "VALID", {"window_dilation": (1, 4, 3)}),
    "spread": ((1, 3, 2), (1, 2, 1), "SAME", {"base_dilation": (1, 2, 3)}),
    "cropped": ((1, 2, 2), (1, 1, 1), ((0, 0), (-1, 3), (2, -2)), {}),
    "long": ((1, 100, 1), (1, 1, 1), "SAME", {}),
    "long with strides": ((1, 100, 7), (1, 3, 2), "VALID", {}),
    "whole": ((2, 300, 20), (1, 1, 1), "VALID", {}),
    "nothing left": ((1, 301, 1), (1, 1, 1), "VALID", {}),
}


def numbers(shape, dtype=np.float32):
    return np.random.default_rng(0).standard_normal(shape).astype(dtype)


@pytest.mark.parametrize("reducer", REDUCERS)
@pytest.mark.parametrize("window", WINDOWS)
def test_windows(reducer, window):
    size, strides, padding, more = WINDOWS[window]
    if reducer == "own" and window.startswith(("long", "whole")):
        size = (1, 9, 2)
    compare_with_cpu(
        lambda x: REDUCERS[reducer](x, size, strides, padding, **more), numbers((2, 300, 20))
    )


@pytest.mark.parametrize("dtype", [jnp.bfloat16, np.float16, np.int8, np.uint32, np.complex64])
def test_dtypes(dtype):
    x = (numbers((4, 80)) > 0).astype(dtype)  # sums that bfloat16 can tell apart
    compare_with_cpu(
        lambda x: lax.reduce_window(x, np.zeros((), dtype), lax.add, (2, 70), (1, 1), "SAME"), x
    )
    compare_with_cpu(lambda x: lax.cumsum(x, 1), x)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize(
    "function", [lax.cumsum, lax.cumprod, lax.cummax, lax.cummin, lax.cumlogsumexp]
)
def test_cumulative(function, axis, reverse):
    compare_with_cpu(lambda x: function(x, axis, reverse=reverse), numbers((30, 70)))


def test_several_operands():
    def both(x, y):
        return lax.reduce_window(
            (x, y),
            (0.0, 1.0),
            lambda a, b: (a[0] + b[0], jnp.maximum(a[1], b[1])),
            (2, 3),
            (1, 2),
            "SAME",
        )

    compare_with_cpu(both, numbers((8, 9)), numbers((8, 9)) * 2)


# JAX has no gradient of a maximum of cropped windows.
@pytest.mark.parametrize(
    ("reducer", "window"),
    [("sum", "small"), ("sum", "cropped"), ("sum", "long"), ("max", "small"), ("max", "long")],
)
def test_gradients(reducer, window):
    size, strides, padding, _ = WINDOWS[window]
    x = numbers((2, 300, 20)) * np.float32(0.01)
    compare_with_cpu(
        jax.grad(lambda x: (REDUCERS[reducer](x, size, strides, padding) ** 2).sum()), x
    )
