"""Strict memory: the CPU device with device memory that host code cannot touch."""

from __future__ import annotations

from collections.abc import Sequence

from .gpu_issue import GpuIssue
from .run_command import ProcessResult, run_command

PREFIX = "xpu strict memory: "


def check(command: Sequence[str], dump: str, timeout: float) -> list[GpuIssue]:
    """Run the command; an access to device memory ends it with a message, which becomes an issue."""
    variables = {
        "XPU_STRICT_MEMORY": "1",
        "XPU_GENERIC_BACKEND": "0",  # its kernels are not the ones of an Intel device
        "ONEAPI_DEVICE_SELECTOR": "opencl:cpu",
        "XPU_DUMP_KERNELS": dump,
    }
    return issues_of(run_command(command, variables, timeout))


def issues_of(result: ProcessResult) -> list[GpuIssue]:
    """Return the issues that the command's exit code and stderr show."""
    issues = [
        GpuIssue("strict memory", what, detail=stack) for what, stack in _messages(result.errors)
    ]
    if result.code and not issues:
        issues.append(
            GpuIssue(
                "strict memory", f"the command {result.describe()}", detail=_tail(result.errors)
            )
        )
    return issues


def _messages(errors: str) -> list[tuple[str, str]]:
    found = []
    for block in errors.split(PREFIX)[1:]:
        what, _, stack = block.partition("\n")
        # Skip the interpreter's C frames: the Python stack follows them.
        useful_lines = [line for line in stack.splitlines() if "libpython" not in line]
        found.append((what.strip(), "\n".join(useful_lines)))
    return found


def _tail(errors: str, lines: int = 8) -> str:
    return "\n".join(errors.splitlines()[-lines:])
