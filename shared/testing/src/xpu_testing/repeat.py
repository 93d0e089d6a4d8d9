"""Two runs of the same thing must give the same bits."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .values import values_checked


def assert_repeatable(run: Callable[[], np.ndarray], times: int = 2) -> np.ndarray:
    """Call ``run`` ``times`` times, compare the bits, and return the first result."""
    first = np.ascontiguousarray(run())
    for attempt in range(1, times):
        again = np.ascontiguousarray(run())
        assert again.shape == first.shape
        assert again.dtype == first.dtype
        if values_checked():
            differing = np.flatnonzero(again.view(np.uint8) != first.view(np.uint8))
            assert differing.size == 0, f"run {attempt + 1} differs in {differing.size} bytes"
    return first
