"""Helpers of the packages' test suites. The fixtures are in :mod:`xpu_testing.plugin`."""

from .canary import Canary
from .child import ChildResult, run_child
from .failing import each_failing_allocation
from .repeat import assert_repeatable
from .values import assert_close, values_checked

__all__ = [
    "Canary",
    "ChildResult",
    "assert_close",
    "assert_repeatable",
    "each_failing_allocation",
    "run_child",
    "values_checked",
]
