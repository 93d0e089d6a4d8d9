"""Run a program under GPU checks, which need no GPU, and report what would go wrong on one.

--strict finds host code that accesses device memory. --virtual-gpu finds exceeded limits and kernels that
Intel's GPU driver rejects; it computes nothing, so XPU_TEST_VALUES=0 tells programs not to compare values.
--offline-compile finds kernels that do not build, spill, or use fp64. Without any: every check that this
machine can run.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections import Counter
from dataclasses import asdict
from pathlib import Path

from rich.text import Text

from .. import printing
from ..gpu_checks import offline_compile, strict, virtual_gpu
from ..gpu_checks.gpu_issue import GpuIssue
from ..gpu_checks.products import PRODUCTS
from ..output_files import why_unwritable

HELP = "run a program under checks for GPU problems"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the checks. All from the command's first word on belongs to the command."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "--strict", action="store_true", help="forbid host code to access device memory"
    )
    parser.add_argument("--virtual-gpu", choices=PRODUCTS, action="append", help="may be repeated")
    parser.add_argument(
        "--offline-compile",
        action="store_true",
        help="build every kernel for dg2 and pvc with ocloc",
    )
    parser.add_argument(
        "--kernels",
        type=Path,
        metavar="DIR",
        help="with --offline-compile: a folder of SPIR-V from XPU_DUMP_KERNELS",
    )
    parser.add_argument(
        "--allow-fp64", action="store_true", help="with --offline-compile: report fp64 as a note"
    )
    parser.add_argument(
        "--sample",
        type=int,
        default=1,
        metavar="N",
        help="with --offline-compile: build every Nth kernel",
    )
    parser.add_argument(
        "--timeout",
        type=float,
        default=3600,
        metavar="SECONDS",
        help="kill a run of the command after SECONDS (3600; 0: never)",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the issues to FILE")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="-- COMMAND")


def _command(options: argparse.Namespace) -> list[str]:
    command = options.command[1:] if options.command[:1] == ["--"] else options.command
    # "python" means the interpreter that has this package.
    if command and command[0] in ("python", "python3"):
        command = [sys.executable, *command[1:]]
    return command


def _missing(options: argparse.Namespace, command: list[str]) -> str | None:
    """Return what the chosen checks lack, and how to get it, or None."""
    if options.json and (problem := why_unwritable(options.json, "--json")):
        return f"xpu-sdk check: {problem}"
    if options.kernels and not options.kernels.is_dir():
        return f"xpu-sdk check: --kernels: there is no folder {options.kernels}"
    if command and not shutil.which(command[0]):
        return (
            f"xpu-sdk check: there is no command {command[0]!r}: give a program on PATH, or a path"
        )
    if options.virtual_gpu and not virtual_gpu.DRIVER.exists():
        return f"Intel's GPU driver is not installed. Run: {virtual_gpu.INSTALL}"
    if options.offline_compile and not shutil.which(offline_compile.COMPILER):
        compiler = f"{offline_compile.COMPILER}, Intel's offline compiler,"
        return f"{compiler} is not installed. Run: {virtual_gpu.INSTALL}"
    return None


def _choose_all(options: argparse.Namespace) -> None:
    options.strict = True
    if virtual_gpu.DRIVER.exists() and shutil.which(offline_compile.COMPILER):
        options.virtual_gpu, options.offline_compile = list(PRODUCTS), True
    else:
        printing.console.print(
            f"Skipping --virtual-gpu and --offline-compile, which need: {virtual_gpu.INSTALL}"
        )


def run(options: argparse.Namespace) -> int:
    """Run the checks: return 0 without errors, 1 with any, 2 if the checks or the command cannot run."""
    command = _command(options)
    if not (options.strict or options.virtual_gpu or options.offline_compile):
        _choose_all(options)
    if problem := _missing(options, command):
        printing.console.print(problem, markup=False)
        return 2
    if not command and not (options.offline_compile and options.kernels):
        printing.console.print(
            "xpu-sdk check: no command given: xpu-sdk check -- python program.py"
        )
        return 2
    issues: list[GpuIssue] = []
    with tempfile.TemporaryDirectory(prefix="xpu-check-") as dump:
        issues += _run_command(options, command, dump)
        if options.offline_compile:
            issues += _compile_offline(options, options.kernels or Path(dump))
    return _report(options, issues)


def _run_command(options: argparse.Namespace, command: list[str], dump: str) -> list[GpuIssue]:
    issues = []
    # --offline-compile needs kernels from a run; a run under strict memory needs no GPU driver.
    if options.strict or (
        options.offline_compile and not options.kernels and not options.virtual_gpu
    ):
        printing.console.rule("strict memory")
        issues += strict.check(command, dump, options.timeout)
    for name in options.virtual_gpu or ():
        printing.console.rule(f"virtual {name}")
        issues += virtual_gpu.check(command, PRODUCTS[name], dump, options.timeout)
    return issues


def _compile_offline(options: argparse.Namespace, folder: Path) -> list[GpuIssue]:
    printing.console.rule("offline compile")
    products = list(PRODUCTS.values())
    kernels = offline_compile.build_all(folder, products, options.sample)
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
        for k in kernels
        if k.error or k.memory or k.fp64
    )
    title = "Kernels that fail, keep data in memory or use fp64"
    printing.print_table(title, (*columns, "times"), [(*row, times) for row, times in rows.items()])
    widths = sorted({kernel.simd for kernel in kernels if kernel.simd})
    printing.console.print(
        f"{len(kernels)} kernels built, SIMD {', '.join(map(str, widths)) or 'none'}, "
        f"{sum(bool(k.error) for k in kernels)} failed, "
        f"{sum(bool(k.memory) for k in kernels)} with data in memory"
    )
    if not kernels:
        return [GpuIssue("offline-compile", "the program built no kernel to check", is_error=False)]
    return offline_compile.issues_of(kernels, products, options.allow_fp64)


def _report(options: argparse.Namespace, issues: list[GpuIssue]) -> int:
    printing.console.rule("report")
    # Repeated issues are printed once; errors come last, where a long report ends.
    times = Counter(issues)
    for issue in sorted(times, key=lambda issue: issue.is_error):
        mark = Text("error", "bold red") if issue.is_error else Text("note", "yellow")
        printing.console.print(mark, end=" ")
        repeated = f" ({times[issue]} times)" if times[issue] > 1 else ""
        printing.console.print(f"{issue.check}: {issue.what}{repeated}", soft_wrap=True)
        for line in issue.detail.splitlines():
            printing.console.print(f"      {line.strip()}", soft_wrap=True, style="dim")
    errors = sum(issue.is_error for issue in issues)
    printing.console.print(f"{errors} errors, {len(issues) - errors} notes")
    if options.json:
        options.json.write_text(printing.to_json([asdict(issue) for issue in issues]))
    return 1 if errors else 0
