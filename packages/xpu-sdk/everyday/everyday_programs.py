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
    """Limits of a program, pytest's marks, and whether it needs more than the tests' environment has."""

    seconds: float = 420
    gib: float = 6
    marks: tuple[str, ...] = ()
    needs_group: bool = False


PROGRAMS = {
    "vision_amp": Everyday(),
    "gpt_compiled": Everyday(),
    "transformers_models": Everyday(needs_group=True),
    "lora_quantized": Everyday(marks=("onednn",), needs_group=True),
    "accelerate_training": Everyday(needs_group=True),
    "profile_and_trace": Everyday(),
    "out_of_memory": Everyday(),
    "flax_two_devices": Everyday(marks=("cpu_device",), needs_group=True),
    "second_derivatives": Everyday(),
    "own_kernel": Everyday(),
    "gguf_model": Everyday(),
    "command_line": Everyday(seconds=540, marks=("cpu_device",)),
    "user_errors": Everyday(),
    "threaded_server": Everyday(),
}


def parameters(*, group: bool) -> list[object]:
    """Return the programs as parameters of a test: all, or those that need no dependency group."""
    return [
        pytest.param(
            name, marks=[getattr(pytest.mark, mark) for mark in ("values", *program.marks)]
        )
        for name, program in PROGRAMS.items()
        if group or not program.needs_group
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
