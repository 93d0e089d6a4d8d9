"""Choose the kernels that ship: run programs and write down what they want: ``nox -s ready-kernels``.

Each program of ``programs/`` runs on the CPU device and on virtual GPUs. The list goes to
packages/runtime/ready_kernels/kernels.json, from which the build of the runtime makes SPIR-V.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from xpu_sdk.gpu_checks import virtual_gpu
from xpu_sdk.gpu_checks.products import PRODUCTS

HERE = Path(__file__).parent
LIST = HERE.parents[1] / "runtime" / "ready_kernels" / "kernels.json"


def devices() -> dict[str, dict[str, str]]:
    """Return the environment variables of each device that programs run on."""
    gpus = {name: virtual_gpu.variables(product) for name, product in PRODUCTS.items()}
    return {"cpu": {}, **gpus}


def records(data: bytes) -> Iterator[tuple[int, str, tuple[str, ...]]]:
    """Yield sub-group size, source and options of each record, as csrc/compile/record.cpp writes them."""
    for record in data.split(b"\0\0")[:-1]:
        size, source, *options = record.decode().split("\0")
        yield int(size), source, tuple(options)


def wanted(program: Path, variables: dict[str, str], folder: Path) -> list[Any]:
    """Run a program in an empty folder; return the kernels that it wants, in order of first use."""
    file = folder / "record"
    file.unlink(missing_ok=True)
    environment = os.environ | variables | {"XPU_RECORD_KERNELS": str(file)}
    subprocess.run([sys.executable, str(program)], env=environment, cwd=folder, check=True)
    return list(dict.fromkeys(records(file.read_bytes())))


def main() -> None:
    """Write the list."""
    names = [path.stem for path in sorted((HERE / "programs").glob("*.py"))]
    parser = argparse.ArgumentParser(prog="ready-kernels", description=__doc__)
    parser.add_argument("--only", nargs="*", choices=names, default=names, help="programs to run")
    options = parser.parse_args()
    kernels: dict[Any, set[str]] = {}
    for name in options.only:
        for device, variables in devices().items():
            with tempfile.TemporaryDirectory() as folder:
                found = wanted(HERE / "programs" / f"{name}.py", variables, Path(folder))
            new = sum(kernel not in kernels for kernel in found)
            print(f"{name} on {device}: {len(found)} kernels, {new} of them new", flush=True)
            for kernel in found:
                kernels.setdefault(kernel, set()).add("cpu" if device == "cpu" else "gpu")
    if options.only == names:
        lines = [
            json.dumps(
                {
                    "devices": sorted(kinds),
                    "sub_group_size": size,
                    "options": choices,
                    "source": source,
                }
            )
            for (size, source, choices), kinds in kernels.items()
        ]
        LIST.write_text('{"kernels": [\n' + ",\n".join(lines) + "\n]}\n")
        print(f"{len(lines)} kernels, in {LIST}")


if __name__ == "__main__":
    main()
