"""Builds kernels for real GPUs with Intel's offline compiler, and reads what the binaries say."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from . import spirv
from .fault import Fault
from .products import Product

COMPILER = "ocloc"


@dataclass(frozen=True)
class Built:
    """A kernel as built for a GPU; ``memory``: bytes kept there by spills and private arrays."""

    name: str
    file: str
    product: str
    error: str = ""
    fp64: bool = False
    simd: int = 0
    registers: int = 0
    local_memory: int = 0
    memory: int = 0


def build_all(folder: Path, products: Sequence[Product]) -> list[Built]:
    """Every SPIR-V file of the folder for every product, on all cores."""
    jobs = [(file, product) for file in sorted(folder.glob("*.spv")) for product in products]
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return [kernel for built in pool.map(lambda job: build(*job), jobs) for kernel in built]


def build(file: Path, product: Product) -> list[Built]:
    """The kernels of one SPIR-V file for one product."""
    facts = spirv.read(file.read_bytes())
    compiler = shutil.which(COMPILER)
    assert compiler
    with tempfile.TemporaryDirectory() as scratch:
        command = [compiler, "compile", "-spirv_input", "-file", str(file), "-device", product.name]
        command += ["--format", "zebin", "-exclude_ir", "-output", "k", "-output_no_suffix"]
        done = subprocess.run(
            [*command, "-out_dir", scratch],
            cwd=scratch,
            capture_output=True,
            text=True,
            check=False,
        )
        binary = Path(scratch, "k")
        if done.returncode or not binary.exists():
            error = _reason(done.stdout + done.stderr)
            return [Built(n, file.name, product.name, error, facts.fp64) for n in facts.kernels]
        return list(read_binary(binary.read_bytes(), file.name, product.name, facts))


def read_binary(binary: bytes, file: str, product: str, facts: spirv.Facts) -> Iterator[Built]:
    """The kernels described by the text section .ze_info of a binary."""
    start = (
        binary.index(b"---\nversion:")
        if b"---\nversion:" in binary
        else binary.index(b"\nkernels:")
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
            file,
            product,
            fp64=facts.fp64,
            simd=number("simd_size"),
            registers=number("grf_count"),
            local_memory=number("slm_size"),
            memory=sum(int(size) for size in re.findall(r"size: +(\d+)", buffers)),
        )


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
    found = []
    for kernel in built:
        where, product = f"isa {kernel.product}", limits[kernel.product]
        who = f"kernel {kernel.name}"
        if kernel.fp64 and not product.fp64:
            what = f"{who} uses fp64, which {product.name} ({product.meaning}) does not have"
            found.append(Fault(where, what, serious=not allow_fp64, detail=kernel.error))
        elif kernel.error:
            found.append(Fault(where, f"{who} does not build: {kernel.error}"))
        if kernel.local_memory > product.local_memory:
            what = f"{who} needs {kernel.local_memory} bytes of local memory"
            what += f"; a work-group has {product.local_memory}"
            found.append(Fault(where, what))
        if kernel.fp64 and product.fp64:
            found.append(
                Fault(where, f"{who} uses fp64, which not every Intel GPU has", serious=False)
            )
        if kernel.memory:
            what = (
                f"{who} keeps {kernel.memory} bytes in memory: spilled registers or private arrays"
            )
            found.append(Fault(where, what, serious=False))
    return found
