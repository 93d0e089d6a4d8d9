"""Builds kernels for real GPUs with Intel's offline compiler, and reads what the binaries say."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from .. import processes
from . import spirv
from .fault import Fault
from .products import Product

COMPILER = "ocloc"


@dataclass(frozen=True)
class Built:
    """A kernel as built for a GPU.

    ``memory``: bytes kept there by spills and private arrays. ``sized``: its local memory is what the
    host chose for another device, by what that one has; for this GPU it would choose again.
    """

    name: str
    file: str
    product: str
    error: str = ""
    fp64: bool = False
    simd: int = 0
    registers: int = 0
    local_memory: int = 0
    memory: int = 0
    sized: bool = False


# One run of the compiler builds many: loading it takes as long as building a small kernel.
BATCH = 32

# Seconds a run of the compiler may take. What a batch has not built then is built file by file.
TIMEOUT = 600

DESCRIPTION = b"\nkernels:"

# Kernels that a note names.
_MOST_NAMES = 8

SIZED = b"#define XPU_SIZED_FOR_DEVICE\n"


def build_all(folder: Path, products: Sequence[Product], share: int = 1) -> list[Built]:
    """Every SPIR-V file below the folder for every product, on all cores.

    Below a folder with a product's name is what that GPU was asked to run, with the driver's binaries. Of the
    files without one only every ``share``-th is built.
    """
    ready: list[Built] = []
    jobs: list[tuple[Path, Product]] = []
    for product in products:
        others = {other.name for other in products} - {product.name}
        own = {file.name: file for file in (folder / product.name).glob("*.spv")}
        rest = {f.name: f for f in sorted(folder.rglob("*.spv")) if f.parent.name not in others}
        for file in (rest | own).values():
            binary = file.with_suffix(".bin")
            described = binary.exists() and DESCRIPTION in (data := binary.read_bytes())
            if described:
                ready += read_binary(data, file, product)
            else:
                jobs.append((file, product))
    jobs = jobs[::share]
    batches = [jobs[at : at + BATCH] for at in range(0, len(jobs), BATCH)]
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return ready + [kernel for built in pool.map(build_batch, batches) for kernel in built]


def build_batch(jobs: Sequence[tuple[Path, Product]]) -> list[Built]:
    """The kernels of some SPIR-V files, each for a product."""
    built: list[Built] = []
    with tempfile.TemporaryDirectory() as scratch:
        lines = [shlex.join(_options(*job, f"{n}", scratch)) for n, job in enumerate(jobs)]
        Path(scratch, "jobs").write_text("\n".join(lines) + "\n")
        _run("multi", "jobs", scratch=scratch)
        for n, (file, product) in enumerate(jobs):
            binary = Path(scratch, f"{n}")
            if binary.exists():
                built += read_binary(binary.read_bytes(), file, product)
            else:  # what does not build may also have ended the run
                built += build(file, product)
    return built


def build(file: Path, product: Product) -> list[Built]:
    """The kernels of one SPIR-V file for one product."""
    with tempfile.TemporaryDirectory() as scratch:
        done = _run("compile", *_options(file, product, "k", scratch), scratch=scratch)
        binary = Path(scratch, "k")
        if done.returncode or not binary.exists():
            error, facts = _reason(done.stdout + done.stderr), spirv.read(file.read_bytes())
            return [Built(n, file.name, product.name, error, facts.fp64) for n in facts.kernels]
        return list(read_binary(binary.read_bytes(), file, product))


def _options(file: Path, product: Product, output: str, folder: str) -> list[str]:
    options = ["-spirv_input", "-file", str(file.resolve()), "-device", product.name]
    options += ["--format", "zebin", "-exclude_ir", "-output", output, "-output_no_suffix"]
    return [*options, "-out_dir", folder]


def _run(*arguments: str, scratch: str) -> subprocess.CompletedProcess[str]:
    compiler = shutil.which(COMPILER)
    assert compiler
    command = [compiler, *arguments]
    try:
        return processes.run(command, TIMEOUT, cwd=scratch)
    except subprocess.TimeoutExpired:
        reason = f"error: {COMPILER} did not end within {TIMEOUT} s"
        return subprocess.CompletedProcess(command, -signal.SIGKILL, "", reason)


def read_binary(binary: bytes, file: Path, product: Product) -> Iterator[Built]:
    """The kernels of a SPIR-V file, described by the text section .ze_info of the binary made of it."""
    facts = spirv.read(file.read_bytes())
    start = (
        binary.index(b"---\nversion:") if b"---\nversion:" in binary else binary.index(DESCRIPTION)
    )
    text = binary[start : binary.index(b"\n...", start)].decode(errors="replace")
    described = text.partition("\nkernels:")[2].partition("\nkernels_misc_info:")[0]
    for block in re.split(r"\n  - name: +", described)[1:]:
        name = block.partition("\n")[0].strip().removeprefix("__sycl_kernel_")
        if name not in facts.kernels:
            continue  # the compiler's own, such as symbol tables

        def number(field: str, block: str = block) -> int:
            found = re.search(rf"\n      {field}: +(\d+)", block)
            return int(found[1]) if found else 0

        buffers = block.partition("per_thread_memory_buffers:")[2]
        yield Built(
            name,
            file.name,
            product.name,
            fp64=facts.fp64,
            simd=number("simd_size"),
            registers=number("grf_count"),
            local_memory=number("slm_size"),
            memory=sum(int(size) for size in re.findall(r"size: +(\d+)", buffers)),
            sized=_is_sized(file) and file.parent.name != product.name,
        )


def _is_sized(file: Path) -> bool:
    source = file.with_suffix(".sycl")
    return source.exists() and SIZED in source.read_bytes()


def _reason(output: str) -> str:
    lines = [
        line.removeprefix("error: ") for line in output.splitlines() if line.startswith("error")
    ]
    return "; ".join(dict.fromkeys(lines)) or output.strip()[-300:]


def faults(
    built: Sequence[Built], products: Sequence[Product], allow_fp64: bool = False
) -> list[Fault]:
    """What is wrong with them. ``allow_fp64``: the program is known to use f64 where there is one."""
    limits = {product.name: product for product in products}
    found = [note for product in products if (note := _fp64_note(built, product, allow_fp64))]
    for kernel in built:
        where, product = f"isa {kernel.product}", limits[kernel.product]
        who = f"kernel {kernel.name}"
        if kernel.fp64 and not product.fp64:
            if not allow_fp64:
                what = f"{who} uses fp64, which {product.name} ({product.meaning}) does not have"
                found.append(Fault(where, what, detail=kernel.error))
        elif kernel.error:
            found.append(Fault(where, f"{who} does not build: {kernel.error}"))
        if kernel.local_memory > product.local_memory and not kernel.sized:
            what = f"{who} needs {kernel.local_memory} bytes of local memory"
            what += f"; a work-group has {product.local_memory}"
            found.append(Fault(where, what))
        if kernel.memory:
            what = (
                f"{who} keeps {kernel.memory} bytes in memory: spilled registers or private arrays"
            )
            found.append(Fault(where, what, serious=False))
    return found


def _fp64_note(built: Sequence[Built], product: Product, allowed: bool) -> Fault | None:
    """One for all kernels whose fp64 is no fault."""
    if not (product.fp64 or allowed):
        return None
    names = {kernel.name for kernel in built if kernel.product == product.name and kernel.fp64}
    if not names:
        return None
    shown, more = sorted(names)[:_MOST_NAMES], len(names) - _MOST_NAMES
    what = f"fp64, which not every Intel GPU has, is used by {', '.join(shown)}"
    if more > 0:
        what += f" and {more} more"
    return Fault(f"isa {product.name}", what, serious=False)
