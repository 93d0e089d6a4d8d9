"""What programs want, by ``XPU_DUMP_KERNELS=list:FILE``; the list of what ships is compared with it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
PROGRAMS = {path.stem: path for path in sorted((HERE / "programs").glob("*.py"))}
LIST = HERE.parents[1] / "runtime" / "ready_kernels" / "kernels.json"

# Parts of the names of cases: few use float16 on CPUs, which convert each number of it.
LEFT_OUT = {"cpu": ("torch.float16",)}


class Kernel(NamedTuple):
    """A module of kernels as a program wants it."""

    sub_group_size: int
    source: str
    options: tuple[str, ...]


def records(data: bytes) -> Iterator[Kernel]:
    """Yield the kernel of each record, as csrc/compile/dump.cpp writes them."""
    for record in data.split(b"\0\0")[:-1]:
        size, source, *options = record.decode().split("\0")
        yield Kernel(int(size), source, tuple(options))


def wanted(
    program: Path, device: str, variables: dict[str, str], only: Collection[str] = ()
) -> dict[str, list[Kernel]]:
    """Run a program; return the kernels that each of its cases wants, in order of first use.

    `variables` choose the device, and `only` the cases.
    """
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, str(HERE / "run_cases.py"), str(program), folder]
        command += ["--left-out", *LEFT_OUT.get(device, ())]
        command += ["--only", *only] if only else []
        subprocess.run(command, env=os.environ | variables, cwd=folder, check=True)
        # In the order in which they ran.
        files = sorted(Path(folder).iterdir(), key=lambda file: file.stat().st_mtime_ns)
        return {file.name: list(dict.fromkeys(records(file.read_bytes()))) for file in files}


def union(cases: dict[str, list[Kernel]]) -> list[Kernel]:
    """Return the kernels of all cases, each once."""
    return list(dict.fromkeys(kernel for kernels in cases.values() for kernel in kernels))


class Listing:
    """What ships: the kernels that each case of each program wants on each device, in order of first use."""

    def __init__(self, cases: dict[str, dict[str, list[Kernel]]]) -> None:
        self.cases = cases

    @classmethod
    def load(cls) -> Listing:
        """Read the list."""
        content = json.loads(LIST.read_text())
        kernels = [
            Kernel(each["sub_group_size"], each["source"], tuple(each["options"]))
            for each in content["kernels"]
        ]
        return cls(
            {
                case: {device: [kernels[i] for i in order] for device, order in orders.items()}
                for case, orders in content["cases"].items()
            }
        )

    def save(self) -> None:
        """Write the list: every kernel once, and the numbers of those that each case wants."""
        orders = [order for each in self.cases.values() for order in each.values()]
        kernels = list(dict.fromkeys(kernel for order in orders for kernel in order))
        numbers = {kernel: number for number, kernel in enumerate(kernels)}
        lines = [json.dumps(kernel._asdict()) for kernel in kernels]
        cases = [
            f"{json.dumps(case)}: "
            + json.dumps({device: [numbers[k] for k in order] for device, order in each.items()})
            for case, each in self.cases.items()
        ]
        parts = ('{"kernels": [', ",\n".join(lines), '], "cases": {', ",\n".join(cases), "}}\n")
        LIST.write_text("\n".join(parts))

    def replace(self, program: str, device: str, found: dict[str, list[Kernel]]) -> None:
        """Replace the kernels that are listed for a program on a device: `found` has them by case."""
        for case, orders in self.cases.items():
            if case.split("/")[0] == program:
                orders.pop(device, None)
        for case, kernels in found.items():
            self.cases.setdefault(f"{program}/{case}", {})[device] = kernels
        self.cases = {case: orders for case, orders in self.cases.items() if orders}

    def keep_programs(self, names: Collection[str]) -> None:
        """Leave out the cases of programs with other names."""
        self.cases = {c: orders for c, orders in self.cases.items() if c.split("/")[0] in names}

    def kernels(self, device: str) -> set[Kernel]:
        """Return the kernels that ship for the CPU or for GPUs."""
        return {kernel for each in self.cases.values() for kernel in each.get(device, ())}
