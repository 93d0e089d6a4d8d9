"""Strict memory: the CPU device with device memory that host code cannot touch."""

from __future__ import annotations

from collections.abc import Sequence

from .fault import Fault
from .running import Ended, run

PREFIX = "xpu strict memory: "


def check(command: Sequence[str], dump: str, timeout: float) -> list[Fault]:
    """Run the command; a touch of device memory ends it with a message, which becomes the fault."""
    variables = {
        "XPU_STRICT_MEMORY": "1",
        "XPU_GENERIC_BACKEND": "0",  # its kernels are not those of an Intel device
        "ONEAPI_DEVICE_SELECTOR": "opencl:cpu",
        "XPU_DUMP_KERNELS": dump,
    }
    return read(run(command, variables, timeout))


def read(ended: Ended) -> list[Fault]:
    """Faults from how the command ended."""
    faults = [Fault("strict memory", what, detail=stack) for what, stack in _messages(ended.errors)]
    if ended.code and not faults:
        faults.append(
            Fault("strict memory", f"the command {ended.how()}", detail=_tail(ended.errors))
        )
    return faults


def _messages(errors: str) -> list[tuple[str, str]]:
    found = []
    for block in errors.split(PREFIX)[1:]:
        what, _, stack = block.partition("\n")
        # The interpreter's own frames say nothing; the Python stack follows them.
        told = [line for line in stack.splitlines() if "libpython" not in line]
        found.append((what.strip(), "\n".join(told)))
    return found


def _tail(errors: str, lines: int = 8) -> str:
    return "\n".join(errors.splitlines()[-lines:])
