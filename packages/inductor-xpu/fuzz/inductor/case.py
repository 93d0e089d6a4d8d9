"""One random program: compiled and eager on xpu, and in float64 on the CPU, its results compared."""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

sys.path.append(str(Path(__file__).parents[1] / "integers"))
from program import Maker
from statements import references, require_right
from xpu_testing.fuzzing import PASSED, REFUSED, Difference, check


class Case:
    """A program, run with fixed or with dynamic shapes."""

    def __init__(self, draw: random.Random) -> None:
        maker = Maker(draw)
        self.program = maker.make()
        self.dynamic = draw.random() < 0.3
        self.subject = re.sub(r"\W+", " ", self.program.lines[-1].split("=")[-1])[:40].strip()
        maker.update_inputs()
        maker.add_integers()

    def __str__(self) -> str:
        inputs = "\n".join(f"  t{n}: {given}" for n, given in enumerate(self.program.inputs))
        hosts = self.program.hosts
        return f"dynamic={self.dynamic}, n0, n1 = {hosts}\n{inputs}\n{self.program.source}"

    def run(self) -> str:
        """Judge every result, and every input that the program updates."""
        program = self.program
        given = [x.make() for x in program.inputs]
        try:
            eager = self._run(program.function(), [x.to("xpu") for x in given])
        except RuntimeError:
            return REFUSED  # what the meta device allows and eager does not
        names = [*program.results, *(f"t{n}" for n in program.updated)]
        scope: dict[str, Any] = {f"n{n}": number for n, number in enumerate(program.hosts)}
        scope |= {f"t{n}": x.make(torch.float64) for n, x in enumerate(program.inputs)}
        finer = references(program.statements, scope, names, program.inputs[0].seed)
        torch._dynamo.reset()
        compiled = torch.compile(program.function(), dynamic=self.dynamic)
        got = self._run(compiled, [x.to("xpu") for x in given])

        def judge(results: list[torch.Tensor]) -> None:
            for place, name in enumerate(names):
                compare(name, results[place], eager[place], [each[place] for each in finer])

        check(got, judge)
        return PASSED

    def _run(self, function: Callable[..., Any], inputs: list[torch.Tensor]) -> list[torch.Tensor]:
        """Return the results and the updated inputs, on the CPU."""
        results = function(*inputs, *self.program.hosts)
        return [x.cpu() for x in (*results, *(inputs[n] for n in self.program.updated))]


def compare(name: str, got: torch.Tensor, eager: torch.Tensor, finer: list[torch.Tensor]) -> None:
    """Raise Difference if a compiled result is wrong; integers must be those of the eager one."""
    if (got.dtype, got.shape) != (eager.dtype, eager.shape):
        raise Difference(
            f"{name} is {got.dtype} {tuple(got.shape)}, expected {eager.dtype} {tuple(eager.shape)}"
        )
    if got.is_floating_point():
        require_right(name, got, finer)
    elif not torch.equal(got, eager):
        raise Difference(f"{name} has {int((got != eager).sum())} other numbers")
