"""A random loop program as a case of the fuzzer."""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np
import random_programs
from xpu_testing import fuzzing


@dataclass(frozen=True)
class LoopCase:
    """A case of the fuzzer: the kind of program, and the seed from which it is made."""

    subject: str
    seed: int

    def __str__(self) -> str:
        program, _ = self.program()
        return f"{self.subject} {self.seed}: {program.shape} {program.sections}"

    def program(self) -> random_programs.Made:
        return random_programs.KINDS[self.subject](np.random.default_rng(self.seed))

    def run(self) -> str:
        import xpu_runtime as xr

        program, arrays = self.program()
        expected = random_programs.interpret(program, arrays)

        def judge(found: list[np.ndarray]) -> None:
            if difference := random_programs.first_difference(found, expected):
                raise fuzzing.Difference(difference)

        found = random_programs.run(xr, program, arrays)
        dtypes = ["int" if a.writable else "" for a in program.arrays]
        fuzzing.check(found, judge, dtypes)
        return fuzzing.PASSED


def make(rng: random.Random) -> LoopCase:
    """Programs with and without folds."""
    return LoopCase(rng.choice(list(random_programs.KINDS)), rng.randrange(2**32))
