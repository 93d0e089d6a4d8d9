"""Comparison of results. On a virtual GPU, which computes nothing, shapes and dtypes only."""

from __future__ import annotations

import os

import numpy as np
from numpy.typing import ArrayLike


def values_checked() -> bool:
    """Return False on a virtual GPU (``XPU_TEST_VALUES=0``), which does not execute kernels."""
    return os.environ.get("XPU_TEST_VALUES", "1") != "0"


def assert_close(
    got: ArrayLike, expected: ArrayLike, rtol: float = 0.0, atol: float = 0.0, where: str = ""
) -> None:
    """Assert equal shapes and dtypes and, if the device computes them, equal values.

    With no tolerance the values must be equal bit for bit, except that any NaN equals any NaN.
    """
    got, expected = np.asarray(got), np.asarray(expected)
    assert got.shape == expected.shape, f"{where} shape {got.shape}, expected {expected.shape}"
    assert got.dtype == expected.dtype, f"{where} dtype {got.dtype}, expected {expected.dtype}"
    if values_checked():
        np.testing.assert_allclose(got, expected, rtol=rtol, atol=atol, err_msg=where)


def disable_value_comparisons() -> None:
    """Make numpy's comparisons of arrays check shapes only, for the rest of the process."""

    def shapes_only(got: ArrayLike, expected: ArrayLike, *_: object, **__: object) -> None:
        got, expected = np.asarray(got), np.asarray(expected)
        assert () in (got.shape, expected.shape) or got.shape == expected.shape

    for name in ("assert_allclose", "assert_array_equal", "assert_equal", "assert_array_max_ulp"):
        setattr(np.testing, name, shapes_only)
