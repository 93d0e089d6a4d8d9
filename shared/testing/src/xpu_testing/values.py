"""Comparison of results, which a device that builds and submits but does not execute leaves out."""

from __future__ import annotations

import os

import numpy as np
from numpy.typing import ArrayLike


def values_checked() -> bool:
    """False on the virtual GPU (``XPU_TEST_VALUES=0``): kernels are submitted there but not executed."""
    return os.environ.get("XPU_TEST_VALUES", "1") != "0"


def assert_close(
    got: ArrayLike, expected: ArrayLike, rtol: float = 0.0, atol: float = 0.0, where: str = ""
) -> None:
    """Shapes and dtypes must be equal everywhere, values where the device computes them.

    With no tolerance the values must be equal bit for bit, except that any NaN equals any NaN.
    """
    got, expected = np.asarray(got), np.asarray(expected)
    assert got.shape == expected.shape, f"{where} shape {got.shape}, expected {expected.shape}"
    assert got.dtype == expected.dtype, f"{where} dtype {got.dtype}, expected {expected.dtype}"
    if values_checked():
        np.testing.assert_allclose(got, expected, rtol=rtol, atol=atol, err_msg=where)


def leave_out_comparisons() -> None:
    """Make numpy's comparisons of whole arrays look at shapes only, for the rest of the process."""

    def shapes_only(got: ArrayLike, expected: ArrayLike, *_: object, **__: object) -> None:
        got, expected = np.asarray(got), np.asarray(expected)
        assert () in (got.shape, expected.shape) or got.shape == expected.shape

    for name in ("assert_allclose", "assert_array_equal", "assert_equal", "assert_array_max_ulp"):
        setattr(np.testing, name, shapes_only)
