"""One random call, made on the CPU and on xpu."""

from __future__ import annotations

import functools
import random
from typing import Any

from agreement import agree_on_errors, agree_on_layouts, compare
from call import Call
from observe import RESULTS, observe, observe_finer
from operator_line import Operator
from xpu_testing.fuzzing import PASSED, announce, check


class Case:
    """A call whose results, and what it left in memory, are compared."""

    def __init__(self, draw: random.Random, operator: Operator) -> None:
        self.subject = operator.name
        self._call = Call(draw, operator)

    def __str__(self) -> str:
        return str(self._call)

    def run(self) -> str:
        announce("reference")
        expected = observe(self._call, "cpu")
        announce("xpu")
        got = observe(self._call, "xpu")
        announce("reference")
        if expected.error or got.error:
            return agree_on_errors(expected.error, got.error)
        agree_on_layouts(self._call, expected, got)
        finer = functools.cache(lambda: observe_finer(self._call))
        for i, (a, b) in enumerate(zip(expected.storages, got.storages, strict=True)):
            compare(self._call, "storages", i, a, b, finer)
        places = [(name, i) for name in RESULTS for i in range(len(getattr(expected, name)))]

        def judge(results: list[Any]) -> None:
            for (name, i), result in zip(places, results, strict=True):
                compare(self._call, name, i, getattr(expected, name)[i], result, finer)

        check([getattr(got, name)[i] for name, i in places], judge)
        return PASSED
