"""Build kernels for real GPUs with Intel's offline compiler; read SIMD width and spills from the binaries."""

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
from .gpu_issue import GpuIssue
from .products import Product

COMPILER = "ocloc"


@dataclass(frozen=True)
class CompiledKernel:
    """A kernel compiled for a GPU.

    ``memory``: bytes of spilled registers and private arrays. ``sized_by_host``: the host chose the size of
    its local memory for another device, and would choose again for this GPU.
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
    sized_by_host: bool = False


# Files for one run of the compiler: loading it takes as long as building a small kernel.
BATCH = 32

# Seconds that a run of the compiler may take. Files that a batch has not built by then are built one by one.
TIMEOUT = 600

# What the compiler says of a kernel that requires a sub-group size of another device: one message is of
# its front end, the other of its back end.
OTHER_SUB_GROUP = re.compile(
    r"Unsupported required sub group size|required subgroup size \d+, which"
)

DESCRIPTION = b"\nkernels:"

# A note names at most so many kernels.
_MAX_NAMES = 8

SIZED_MARKER = b"#define XPU_SIZED_FOR_DEVICE\n"


def build_all(folder: Path, products: Sequence[Product], sample: int = 1) -> list[CompiledKernel]:
    """Return the kernels of every SPIR-V file below the folder for every product, built on all cores.

    A folder with a product's name has what a virtual GPU of that product ran, with the driver's binaries.
    Of the files without a binary only every ``sample``-th is built.
    """
    ready: list[CompiledKernel] = []
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
    jobs = jobs[::sample]
    batches = [jobs[at : at + BATCH] for at in range(0, len(jobs), BATCH)]
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return ready + [kernel for built in pool.map(build_batch, batches) for kernel in built]


def build_batch(jobs: Sequence[tuple[Path, Product]]) -> list[CompiledKernel]:
    """Compile SPIR-V files, each for its product; return their kernels."""
    built: list[CompiledKernel] = []
    with tempfile.TemporaryDirectory() as scratch:
        lines = [shlex.join(_options(*job, f"{n}", scratch)) for n, job in enumerate(jobs)]
        Path(scratch, "jobs").write_text("\n".join(lines) + "\n")
        _run("multi", "jobs", scratch=scratch)
        for n, (file, product) in enumerate(jobs):
            binary = Path(scratch, f"{n}")
            if binary.exists():
                built += read_binary(binary.read_bytes(), file, product)
            else:  # a file that does not build may have ended the run
                built += build(file, product)
    return built


def build(file: Path, product: Product) -> list[CompiledKernel]:
    """Compile one SPIR-V file for one product; return its kernels."""
    with tempfile.TemporaryDirectory() as scratch:
        done = _run("compile", *_options(file, product, "k", scratch), scratch=scratch)
        binary = Path(scratch, "k")
        if done.returncode or not binary.exists():
            error, module = _reason(done.stdout + done.stderr), spirv.read_module(file.read_bytes())
            return [
                CompiledKernel(n, file.name, product.name, error, module.fp64)
                for n in module.kernels
            ]
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


def read_binary(binary: bytes, file: Path, product: Product) -> Iterator[CompiledKernel]:
    """Yield the kernels of a SPIR-V file, as the section .ze_info of its compiled binary describes them."""
    module = spirv.read_module(file.read_bytes())
    start = (
        binary.index(b"---\nversion:") if b"---\nversion:" in binary else binary.index(DESCRIPTION)
    )
    text = binary[start : binary.index(b"\n...", start)].decode(errors="replace")
    described = text.partition("\nkernels:")[2].partition("\nkernels_misc_info:")[0]
    for block in re.split(r"\n  - name: +", described)[1:]:
        name = block.partition("\n")[0].strip().removeprefix("__sycl_kernel_")
        if name not in module.kernels:
            continue  # an entry that the compiler added, such as a symbol table

        def number(field: str, block: str = block) -> int:
            found = re.search(rf"\n      {field}: +(\d+)", block)
            return int(found[1]) if found else 0

        buffers = block.partition("per_thread_memory_buffers:")[2]
        yield CompiledKernel(
            name,
            file.name,
            product.name,
            fp64=module.fp64,
            simd=number("simd_size"),
            registers=number("grf_count"),
            local_memory=number("slm_size"),
            memory=sum(int(size) for size in re.findall(r"size: +(\d+)", buffers)),
            sized_by_host=_is_sized_by_host(file) and file.parent.name != product.name,
        )


def _is_sized_by_host(file: Path) -> bool:
    source = file.with_suffix(".sycl")
    return source.exists() and SIZED_MARKER in source.read_bytes()


def _reason(output: str) -> str:
    lines = [
        line.removeprefix("error: ") for line in output.splitlines() if line.startswith("error")
    ]
    return "; ".join(dict.fromkeys(lines)) or output.strip()[-300:]


def issues_of(
    built: Sequence[CompiledKernel], products: Sequence[Product], allow_fp64: bool = False
) -> list[GpuIssue]:
    """Return what is wrong with the kernels. ``allow_fp64``: the program uses f64 on purpose."""
    limits = {product.name: product for product in products}
    found = [note for product in products if (note := _fp64_note(built, product, allow_fp64))]
    for kernel in built:
        check, product = f"offline-compile {kernel.product}", limits[kernel.product]
        subject = f"kernel {kernel.name}"
        if kernel.fp64 and not product.fp64:
            if not allow_fp64:
                what = (
                    f"{subject} uses fp64, which {product.name} ({product.meaning}) does not have"
                )
                found.append(GpuIssue(check, what, detail=kernel.error))
        elif OTHER_SUB_GROUP.search(kernel.error):
            what = f"{subject} requires a sub-group size that {product.name} does not have"
            found.append(GpuIssue(check, what, is_error=False))
        elif kernel.error:
            found.append(GpuIssue(check, f"{subject} does not build: {kernel.error}"))
        if kernel.local_memory > product.local_memory and not kernel.sized_by_host:
            what = f"{subject} needs {kernel.local_memory} bytes of local memory"
            what += f"; a work-group has {product.local_memory}"
            found.append(GpuIssue(check, what))
        if kernel.memory:
            what = f"{subject} keeps {kernel.memory} bytes in memory: spilled registers or private arrays"
            found.append(GpuIssue(check, what, is_error=False))
    return found


def _fp64_note(built: Sequence[CompiledKernel], product: Product, allowed: bool) -> GpuIssue | None:
    """Return one note for all kernels whose fp64 is not an error."""
    if not (product.fp64 or allowed):
        return None
    names = {kernel.name for kernel in built if kernel.product == product.name and kernel.fp64}
    if not names:
        return None
    shown, more = sorted(names)[:_MAX_NAMES], len(names) - _MAX_NAMES
    what = f"fp64, which not every Intel GPU has, is used by {', '.join(shown)}"
    if more > 0:
        what += f" and {more} more"
    return GpuIssue(f"offline-compile {product.name}", what, is_error=False)
