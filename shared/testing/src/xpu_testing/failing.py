"""Failure injection: the k-th allocation fails, for k = 1, 2, 3 and so on."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager


def each_failing_allocation(
    action: Callable[[], object],
    fail_at: Callable[[int], AbstractContextManager[object]],
    error: type[BaseException],
    in_use: Callable[[], int],
    limit: int = 50,
) -> int:
    """Run ``action`` with its first, second, third … allocation failing, until it succeeds or ``limit``.

    ``fail_at(k)`` is a context in which the k-th allocation throws. Every failed run must raise
    ``error`` and leave ``in_use()`` (allocated bytes) as it was. Returns how many runs failed.
    """
    before = in_use()
    for k in range(1, limit + 1):
        try:
            with fail_at(k):
                action()
        except error:
            assert in_use() == before, (
                f"allocation {k} failed and {in_use() - before} bytes stayed allocated"
            )
        else:
            return k - 1
    return limit
