"""One random kernel: its source, what it is called with, and the comparison with the interpreter."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import torch
from kernel_source import INPUTS, TYPES, KernelSource
from launch import launch, load_kernel
from xpu_testing.fuzzing import PASSED, Difference, announce, check


@cache
def _interpreter() -> subprocess.Popen[str]:
    """Return a process with Triton's interpreter, which ends with this one."""
    variables = {**os.environ, "TRITON_INTERPRET": "1", "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    command = [sys.executable, str(Path(__file__).with_name("reference.py"))]
    return subprocess.Popen(
        command, env=variables, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )


def _interpret(folder: Path) -> list[torch.Tensor]:
    process = _interpreter()
    assert process.stdin
    assert process.stdout
    print(folder, file=process.stdin, flush=True)
    answer = process.stdout.readline().strip()
    if answer != "ok":
        raise RuntimeError(f"the interpreter {answer or 'ended'}")
    return torch.load(folder / "results.pt")


class KernelCase:
    """A kernel whose floats are small integers, so that no order of additions changes a result."""

    def __init__(self, draw: random.Random) -> None:
        self.source = KernelSource(draw)
        self.seed = draw.randrange(1 << 30)
        self.subject = self.source.subject

    def __str__(self) -> str:
        return f"grid {self.source.grid}, trips {self.source.trips}\n{self.source.text}"

    def run(self) -> str:
        """Compare all that the kernel writes, bit by bit."""
        torch.manual_seed(self.seed)
        arguments = {
            "inputs": [
                torch.randint(low, high, (size,)).to(TYPES[name])
                for name, low, high, size in INPUTS
            ],
            "outputs": [
                torch.full((size,), 77).to(TYPES[name]) for name, size in self.source.outputs
            ],
            "numbers": [self.source.trips],
            "grid": self.source.grid,
        }
        with tempfile.TemporaryDirectory(prefix="triton-fuzz-") as place:
            folder = Path(place)
            (folder / "kernel.py").write_text(self.source.text)
            torch.save(arguments, folder / "arguments.pt")
            announce("reference")
            expected = _interpret(folder)
            announce("xpu")
            got = launch(load_kernel(folder), arguments, "xpu")

        def judge(results: list[torch.Tensor]) -> None:
            for number, (mine, its) in enumerate(zip(results, expected, strict=True)):
                if not torch.equal(mine, its):
                    wrong = (mine != its).nonzero()
                    at = int(wrong[0]) if len(wrong) else 0
                    raise Difference(
                        f"o{number} has {len(wrong)} of {len(its)} wrong, at {at}: {mine[at].item()}, "
                        f"expected {its[at].item()}"
                    )

        check(got, judge)
        return PASSED
