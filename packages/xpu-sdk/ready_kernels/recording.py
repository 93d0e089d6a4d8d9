"""What programs want: they run with XPU_RECORD_KERNELS, and the list of what ships is compared with it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
PROGRAMS = {path.stem: path for path in sorted((HERE / "programs").glob("*.py"))}
LIST = HERE.parents[1] / "runtime" / "ready_kernels" / "kernels.json"


class Kernel(NamedTuple):
    """A module of kernels as a program wants it."""

    sub_group_size: int
    source: str
    options: tuple[str, ...]


def records(data: bytes) -> Iterator[Kernel]:
    """Yield the kernel of each record, as csrc/compile/record.cpp writes them."""
    for record in data.split(b"\0\0")[:-1]:
        size, source, *options = record.decode().split("\0")
        yield Kernel(int(size), source, tuple(options))


def wanted(program: Path, variables: dict[str, str], folder: Path) -> list[Kernel]:
    """Run a program in an empty folder; return the kernels that it wants, in order of first use."""
    file = folder / "record"
    file.unlink(missing_ok=True)
    environment = os.environ | variables | {"XPU_RECORD_KERNELS": str(file)}
    subprocess.run([sys.executable, str(program)], env=environment, cwd=folder, check=True)
    return list(dict.fromkeys(records(file.read_bytes())))


def listed(device: str) -> set[Kernel]:
    """Return the kernels that ship for the CPU or for GPUs."""
    return {
        Kernel(each["sub_group_size"], each["source"], tuple(each["options"]))
        for each in json.loads(LIST.read_text())["kernels"]
        if device in each["devices"]
    }


def write_list(kernels: Iterable[tuple[Kernel, set[str]]]) -> None:
    """Write the list: each kernel, and the devices that it is for."""
    lines = [
        json.dumps({"devices": sorted(devices)} | kernel._asdict()) for kernel, devices in kernels
    ]
    LIST.write_text('{"kernels": [\n' + ",\n".join(lines) + "\n]}\n")
