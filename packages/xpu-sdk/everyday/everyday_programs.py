"""Programs as a new user of a framework would write them: what each needs, and how the tests run one."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from xpu_testing import processes, validation

FOLDER = Path(__file__).parent / "programs"
GIB = 2**30


@dataclass(frozen=True)
class Everyday:
    """Limits of a program, pytest's marks, and whether it is part of the package's suite.

    Those of the suite take at most a minute on two cores and need nothing that the tests' environment lacks.
    """

    seconds: float = 420
    gib: float = 6
    marks: tuple[str, ...] = ()
    in_suite: bool = False


PROGRAMS = {
    "vision_amp": Everyday(),
    "gpt_compiled": Everyday(),
    "transformers_models": Everyday(),
    "lora_quantized": Everyday(marks=("onednn",)),
    "accelerate_training": Everyday(),
    "profile_and_trace": Everyday(in_suite=True),
    "out_of_memory": Everyday(in_suite=True),
    "flax_two_devices": Everyday(marks=("cpu_device",)),
    "second_derivatives": Everyday(in_suite=True),
    "own_kernel": Everyday(in_suite=True),
    "gguf_model": Everyday(),
    "command_line": Everyday(seconds=540, marks=("cpu_device",)),
    "user_errors": Everyday(in_suite=True),
    "threaded_server": Everyday(in_suite=True),
}


def parameters(*, all_programs: bool) -> list[object]:
    """Return the programs as parameters of a test: all, or those of the package's suite."""
    return [
        pytest.param(
            name, marks=[getattr(pytest.mark, mark) for mark in ("values", *program.marks)]
        )
        for name, program in PROGRAMS.items()
        if all_programs or program.in_suite
    ]


def run(name: str, folder: Path) -> None:
    """Run a program in a process of its own; fail with its output if it does not end with status 0."""
    program = PROGRAMS[name]
    command = [sys.executable, str(FOLDER / f"{name}.py")]
    if prlimit := shutil.which("prlimit"):  # of util-linux
        command = [prlimit, f"--data={int(program.gib * GIB)}", "--", *command]
    variables = dict(os.environ)
    variables.pop("XPU_FALLBACK", None)  # as a user runs it
    variables |= validation.variables(variables)
    done = processes.run(command, program.seconds, env=variables, cwd=folder)
    output = f"--- out\n{done.stdout[-6000:]}\n--- err\n{done.stderr[-6000:]}"
    assert done.returncode == 0, f"{name} ended with {done.returncode}\n{output}"
