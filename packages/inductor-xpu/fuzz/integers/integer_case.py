"""One random program of integers: compiled on xpu, with fixed and dynamic shapes, and eager on the CPU."""

from __future__ import annotations

import random
from typing import Any

import torch
from integer_lines import host_numbers, integer_line, run_exactly
from xpu_testing.fuzzing import PASSED, Difference, check

STEPS = 6
SIZES = (7, 10, 64, 1000, 3000, 50_000, 100_000)


class IntegerCase:
    """Statements over a vector ``x`` and two numbers of the host: arguments, or elements of a tensor."""

    def __init__(self, draw: random.Random) -> None:
        self.size = draw.choice(SIZES)
        self.hosts = host_numbers(draw)
        self.reads_tensor = draw.random() < 0.25
        scope: dict[str, Any] = {"x": self.vector(), "n0": self.hosts[0], "n1": self.hosts[1]}
        self.lines: list[str] = []
        while len(self.lines) < STEPS:
            line = integer_line(draw, scope, "x", len(self.lines))
            if line:
                self.lines.append(line)
        self.subject = "of a tensor" if self.reads_tensor else "of arguments"

    def __str__(self) -> str:
        return f"x: {self.size} elements, n0, n1 = {self.hosts}\n{self.source}"

    @property
    def body(self) -> str:
        """The statements, without a function around them."""
        return "\n".join(self.lines)

    @property
    def source(self) -> str:
        """The function as Python source."""
        given = "numbers" if self.reads_tensor else "n0, n1"
        lines = ["n0, n1 = numbers.tolist()"] * self.reads_tensor + self.lines
        body = "\n".join(f"    {line}" for line in lines)
        return f"def program(x, {given}):\n{body}\n    return {', '.join(self.results)}\n"

    @property
    def results(self) -> list[str]:
        """The names that the statements define."""
        return [line.split()[0] for line in self.lines]

    def vector(self) -> torch.Tensor:
        """Return the input on the CPU."""
        return torch.arange(self.size) % 11 - 5

    def run(self) -> str:
        """Compare all results, with the numbers and then with the numbers in the other order."""
        for dynamic in (False, True):
            torch._dynamo.reset()
            scope: dict[str, Any] = {"torch": torch}
            exec(self.source, scope)
            with torch._dynamo.config.patch(capture_scalar_outputs=True):
                compiled = torch.compile(scope["program"], dynamic=dynamic)
                self.compare(compiled, self.hosts, f"dynamic={dynamic}, ")
                if dynamic:
                    self.compare(compiled, self.hosts[::-1], "dynamic, numbers swapped, ")
        return PASSED

    def compare(self, compiled: Any, hosts: tuple[int, int], where: str) -> None:
        """Raise Difference if a result is another than on the CPU."""
        scope: dict[str, Any] = {"x": self.vector(), "n0": hosts[0], "n1": hosts[1]}
        try:
            run_exactly(self.body, scope)
        except (RuntimeError, IndexError, OverflowError):
            return  # the statements were chosen for the other order
        given = (torch.tensor(hosts),) if self.reads_tensor else hosts
        got = compiled(self.vector().to("xpu"), *given)

        def judge(results: list[torch.Tensor]) -> None:
            for name, result in zip(self.results, results, strict=True):
                expected = scope[name]
                if result.dtype != expected.dtype or not torch.equal(result, expected):
                    wrong = (result != expected).nonzero()
                    at = int(wrong[0]) if len(wrong) else 0
                    raise Difference(
                        f"{where}{name} has {len(wrong)} of {self.size} wrong, at {at}: "
                        f"{result[at].item()}, expected {expected[at].item()}"
                    )

        check([result.cpu() for result in got], judge)
