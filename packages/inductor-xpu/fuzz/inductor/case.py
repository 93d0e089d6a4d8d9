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
from xpu_testing.fuzzing import PASSED, REFUSED, Difference

# Compiled code may round in other places than eager: so many times farther from the float64 result.
FARTHER = 8


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
        """Compare every result, and every input that the program updates."""
        program = self.program
        given = [x.make() for x in program.inputs]
        try:
            eager = self._run(program.function(), [x.to("xpu") for x in given])
        except RuntimeError:
            return REFUSED  # what the meta device allows and eager does not
        finer = self._run(
            program.function(torch.float64), [x.make(torch.float64) for x in program.inputs]
        )
        torch._dynamo.reset()
        compiled = torch.compile(program.function(), dynamic=self.dynamic)
        got = self._run(compiled, [x.to("xpu") for x in given])
        names = [*program.results, *(f"input {n}" for n in program.updated)]
        for name, *results in zip(names, got, eager, finer, strict=True):
            if text := difference(*results):
                raise Difference(f"{name} {text}")
        return PASSED

    def _run(self, function: Callable[..., Any], inputs: list[torch.Tensor]) -> list[torch.Tensor]:
        """Return the results and the updated inputs, on the CPU."""
        results = function(*inputs, *self.program.hosts)
        return [x.cpu() for x in (*results, *(inputs[n] for n in self.program.updated))]


def difference(got: torch.Tensor, eager: torch.Tensor, finer: torch.Tensor) -> str:
    """Return how a compiled result differs from the eager one, given one of more digits; or ""."""
    if (got.dtype, got.shape) != (eager.dtype, eager.shape):
        return f"is {got.dtype} {tuple(got.shape)}, expected {eager.dtype} {tuple(eager.shape)}"
    if not got.is_floating_point():
        return "" if torch.equal(got, eager) else f"has {int((got != eager).sum())} other numbers"
    a, b, c = got.double(), eager.double(), finer.double()
    # Errors of neighbors count: a sum has those of all its summands.
    scale = torch.nan_to_num(c.abs(), posinf=0.0).max() if c.numel() else torch.tensor(0.0)
    if scale == 0:
        scale = torch.tensor(1.0)  # a variance of equal numbers: its error is their mean's
    eps = max(torch.finfo(got.dtype).eps, torch.finfo(torch.float32).eps)
    error = torch.nan_to_num((b - c).abs(), posinf=0.0).max() if c.numel() else torch.tensor(0.0)
    allowed = FARTHER * torch.maximum(error, 16 * eps * scale)
    bad = ~(((a - c).abs() <= allowed) | (a == b) | (a.isnan() & b.isnan()))
    if not bad.any():
        return ""
    at = tuple(bad.nonzero()[0].tolist())
    return f"has {int(bad.sum())} of {bad.numel()} wrong, at {at}: {a[at]}, eager {b[at]}, exact {c[at]}"
