"""Functions run on xpu beside JAX's own CPU backend."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

# The widest difference, in parts of the number or of 1.
TOLERANCES = {"float64": 1e-10, "complex128": 1e-10, "float32": 1e-4, "complex64": 1e-4}
HALF = 2e-2


def beside_cpu(
    function: Callable[..., Any], *args: Any, exact: bool = False, apart: Sequence[float] = ()
) -> Any:
    """Compare what a function gives on the two in structure, dtypes, shapes and values; returns xpu's.

    ``apart`` are the differences allowed in each result where they are more than the type's.
    """
    expected, got = (run_on(platform, function, args) for platform in ("cpu", "xpu"))
    assert jax.tree.structure(got) == jax.tree.structure(expected)
    for number, pair in enumerate(
        zip(jax.tree.leaves(got), jax.tree.leaves(expected), strict=True)
    ):
        allowed = apart[number] if apart else 0.0
        _same(*map(np.asarray, pair), exact, allowed, f"result {number}")
    return got


def run_on(platform: str, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """What a function gives there."""
    device = jax.devices(platform)[0]
    with jax.default_device(device):
        return jax.jit(function)(*jax.device_put(args, device))


def _same(got: np.ndarray, expected: np.ndarray, exact: bool, apart: float, what: str) -> None:
    assert (got.dtype, got.shape) == (expected.dtype, expected.shape), what
    if exact or got.dtype.kind in "biu":
        np.testing.assert_array_equal(got, expected, what)
        return
    wide = np.complex128 if got.dtype.kind == "c" else np.float64
    tolerance = max(TOLERANCES.get(got.dtype.name, HALF), apart)
    np.testing.assert_allclose(
        got.astype(wide), expected.astype(wide), rtol=tolerance, atol=tolerance, err_msg=what
    )
