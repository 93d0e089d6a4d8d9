"""Build kernels before they are needed: those that ship, for this machine's devices, or a program's."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from typing import Any

from .. import printing
from ..health import caches
from ..program_argument import add_program

HELP = "build kernels before they are needed"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the program. All from its name on belongs to it."""
    add_program(parser, required=False, help="a Python file to run, with its arguments")


def run(options: argparse.Namespace) -> int:
    """Fill the cache; return 1 if nothing can be stored in it, else the program's exit code."""
    from xpu_runtime import cache

    if not caches.can_store():
        state = "is off" if cache.folder() is None else "cannot be written"
        printing.console.print(f"The kernel cache {state}. Run: xpu-sdk doctor")
        return 1
    before = len(cache.list())
    code = _run_program(options) if options.program else _build_all()
    added = len(cache.list()) - before
    printing.console.print(f"{max(added, 0)} files added to {cache.folder()}")
    return code


def _run_program(options: argparse.Namespace) -> int:
    """Run the program in a process of its own, so that its end is no matter of ours."""
    code = subprocess.run([sys.executable, options.program, *options.arguments]).returncode
    return code if code >= 0 else 128 - code


def _build_all() -> int:
    import xpu_runtime as xr

    xr.ready_kernels.use_images(False)  # they are for many CPUs, what is built here for this one
    for device in xr.devices():
        _build(xr, device)
    return 0


def _build(xr: Any, device: Any) -> None:
    """Build what ships for a device, as many modules at once as there are cores."""
    from concurrent.futures import ThreadPoolExecutor, as_completed

    from rich.markup import escape
    from rich.progress import Progress

    modules = xr.ready_kernels.spirv(device.index)
    if not modules:
        printing.console.print(f"No kernels ship for {device.name}: run xpu-sdk warm PROGRAM")
        return
    pool = ThreadPoolExecutor(len(os.sched_getaffinity(0)))
    failures = []
    with Progress(console=printing.console) as progress:
        task = progress.add_task(escape(device.name), total=len(modules))
        builds = [pool.submit(_build_module, xr, device.index, spirv) for spirv in modules]
        try:
            for build in as_completed(builds):
                try:
                    build.result()
                except xr.Error as error:  # the device may lack what the kernel needs
                    failures.append(error)
                progress.advance(task)
        finally:
            pool.shutdown(cancel_futures=True)
    if failures:
        count = f"{len(failures)} of {len(modules)} kernels"
        printing.console.print(f"{device.name} cannot build {count}: {failures[0]}")


def _build_module(xr: Any, device: int, spirv: bytes) -> None:
    from ..gpu_checks.spirv import read_module

    xr.from_spirv(spirv, read_module(spirv).kernels[0], device)
