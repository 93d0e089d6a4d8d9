"""Compares results of functions on xpu with those of JAX's CPU backend."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

# The widest difference, in parts of the number or of 1.
TOLERANCES = {"float64": 1e-10, "complex128": 1e-10, "float32": 1e-4, "complex64": 1e-4}
HALF = 2e-2


def compare_with_cpu(
    function: Callable[..., Any], *args: Any, exact: bool = False, differences: Sequence[float] = ()
) -> Any:
    """Compare the results on both in structure, dtypes, shapes and values; return xpu's.

    ``differences`` are allowed in each result if they exceed the tolerance of its type.
    """
    expected, got = (run_on(platform, function, args) for platform in ("cpu", "xpu"))
    assert jax.tree.structure(got) == jax.tree.structure(expected)
    for number, pair in enumerate(
        zip(jax.tree.leaves(got), jax.tree.leaves(expected), strict=True)
    ):
        allowed = differences[number] if differences else 0.0
        _same(*map(np.asarray, pair), exact, allowed, f"result {number}")
    return got


def run_on(platform: str, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """Return the results of a function on a platform."""
    device = jax.devices(platform)[0]
    with jax.default_device(device):
        return jax.jit(function)(*jax.device_put(args, device))


def _same(got: np.ndarray, expected: np.ndarray, exact: bool, difference: float, what: str) -> None:
    assert (got.dtype, got.shape) == (expected.dtype, expected.shape), what
    if exact or got.dtype.kind in "biu":
        np.testing.assert_array_equal(got, expected, what)
        return
    wide = np.complex128 if got.dtype.kind == "c" else np.float64
    tolerance = max(TOLERANCES.get(got.dtype.name, HALF), difference)
    np.testing.assert_allclose(
        got.astype(wide), expected.astype(wide), rtol=tolerance, atol=tolerance, err_msg=what
    )
