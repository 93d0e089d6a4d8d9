"""Runs a program under what stands in for a GPU, and reports what would go wrong on one.

--strict: host code that touches device memory. --virtual-gpu: limits broken and kernels refused, on
Intel's driver with no GPU behind it (values mean nothing there: XPU_VALUES=0 is set for programs that
check them). --isa: kernels that do not build, spill, or use fp64. Without any: all this machine can do.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections import Counter
from dataclasses import asdict
from pathlib import Path

from .. import show
from ..stand_ins import isa, strict, virtual_gpu
from ..stand_ins.fault import Fault
from ..stand_ins.products import PRODUCTS

HELP = "run a program under the stand-ins for a GPU"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "--strict", action="store_true", help="device memory that hosts cannot touch"
    )
    parser.add_argument("--virtual-gpu", choices=PRODUCTS, action="append", help="may be repeated")
    parser.add_argument("--isa", action="store_true", help="build every kernel for dg2 and pvc")
    parser.add_argument(
        "--kernels", type=Path, metavar="DIR", help="with --isa: SPIR-V dumped before"
    )
    parser.add_argument(
        "--allow-fp64", action="store_true", help="with --isa: fp64 is meant, and only noted"
    )
    parser.add_argument(
        "--share", type=int, default=1, metavar="N", help="with --isa: every Nth kernel"
    )
    parser.add_argument(
        "--timeout",
        type=float,
        default=3600,
        metavar="SECONDS",
        help="how long each run of the command may take (3600); 0: any time",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the faults to FILE too")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="-- COMMAND")


def _command(options: argparse.Namespace) -> list[str]:
    command = options.command[1:] if options.command[:1] == ["--"] else options.command
    # The interpreter that has this package is the one meant by a bare "python".
    if command and command[0] in ("python", "python3"):
        command = [sys.executable, *command[1:]]
    return command


def _missing(options: argparse.Namespace) -> str | None:
    """What must be installed for what was asked."""
    if options.virtual_gpu and not virtual_gpu.DRIVER.exists():
        return f"Intel's GPU driver is not here. Run: {virtual_gpu.INSTALL}"
    if options.isa and not shutil.which(isa.COMPILER):
        return f"{isa.COMPILER}, Intel's offline compiler, is not here. Run: {virtual_gpu.INSTALL}"
    return None


def _choose_all(options: argparse.Namespace) -> None:
    options.strict = True
    if virtual_gpu.DRIVER.exists() and shutil.which(isa.COMPILER):
        options.virtual_gpu, options.isa = list(PRODUCTS), True
    else:
        show.console.print(f"Without a virtual GPU and isa; for them: {virtual_gpu.INSTALL}")


def run(options: argparse.Namespace) -> int:
    command = _command(options)
    if not (options.strict or options.virtual_gpu or options.isa):
        _choose_all(options)
    if problem := _missing(options):
        show.console.print(problem)
        return 2
    if not command and not (options.isa and options.kernels):
        show.console.print("xpu-sdk check: no command given: xpu-sdk check -- python program.py")
        return 2
    faults: list[Fault] = []
    with tempfile.TemporaryDirectory(prefix="xpu-check-") as dump:
        faults += _run_command(options, command, dump)
        if options.isa:
            faults += _isa(options, options.kernels or Path(dump))
    return _report(options, faults)


def _run_command(options: argparse.Namespace, command: list[str], dump: str) -> list[Fault]:
    faults = []
    # isa needs a run that leaves kernels behind; strict memory is the one that does not depend on a driver.
    if options.strict or (options.isa and not options.kernels and not options.virtual_gpu):
        show.console.rule("strict memory")
        faults += strict.check(command, dump, options.timeout)
    for name in options.virtual_gpu or ():
        show.console.rule(f"virtual {name}")
        faults += virtual_gpu.check(command, PRODUCTS[name], dump, options.timeout)
    return faults


def _isa(options: argparse.Namespace, folder: Path) -> list[Fault]:
    show.console.rule("isa")
    products = list(PRODUCTS.values())
    built = isa.build_all(folder, products, options.share)
    columns = ("kernel", "GPU", "SIMD", "registers", "local memory", "in memory", "fp64", "builds")
    rows = Counter(
        (
            k.name,
            k.product,
            k.simd or "-",
            k.registers or "-",
            k.local_memory,
            k.memory,
            k.fp64,
            not k.error,
        )
        for k in built
        if k.error or k.memory or k.fp64
    )
    title = "Kernels that fail, keep data in memory or use fp64"
    show.table(title, (*columns, "times"), [(*row, times) for row, times in rows.items()])
    widths = sorted({kernel.simd for kernel in built if kernel.simd})
    show.console.print(
        f"{len(built)} kernels built, SIMD {', '.join(map(str, widths)) or 'none'}, "
        f"{sum(bool(k.error) for k in built)} failed, "
        f"{sum(bool(k.memory) for k in built)} with data in memory"
    )
    if not built:
        return [
            Fault("isa", "the program built no kernel, so nothing could be checked", serious=False)
        ]
    return isa.faults(built, products, options.allow_fp64)


def _report(options: argparse.Namespace, faults: list[Fault]) -> int:
    show.console.rule("report")
    # What many kernels have in common is said once, and what is serious where a long report ends.
    times = Counter(faults)
    for fault in sorted(times, key=lambda fault: fault.serious):
        mark = "[bold red]FAULT[/]" if fault.serious else "[yellow]note[/]"
        show.console.print(mark, end=" ")
        again = f" ({times[fault]} times)" if times[fault] > 1 else ""
        show.console.print(f"{fault.stand_in}: {fault.what}{again}", markup=False, soft_wrap=True)
        for line in fault.detail.splitlines():
            show.console.print(f"      {line.strip()}", markup=False, soft_wrap=True, style="dim")
    serious = sum(fault.serious for fault in faults)
    show.console.print(f"{serious} faults, {len(faults) - serious} notes")
    if options.json:
        options.json.write_text(show.to_json([asdict(fault) for fault in faults]))
    return 1 if serious else 0
