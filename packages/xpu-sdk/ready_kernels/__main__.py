"""Choose the kernels that ship: run programs and write down what they want: ``nox -s ready-kernels``.

Each program of ``programs/`` runs on the CPU device and on a virtual GPU: all GPUs want the same. The list
goes to packages/runtime/ready_kernels/kernels.json, from which the build of the runtime makes SPIR-V.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from recording import LIST, PROGRAMS, Kernel, listed, wanted, write_list
from xpu_sdk.gpu_checks import virtual_gpu
from xpu_sdk.gpu_checks.products import PRODUCTS


def devices() -> dict[str, dict[str, str]]:
    """Return the environment variables of each device that programs run on."""
    return {"cpu": {}, "gpu": virtual_gpu.variables(next(iter(PRODUCTS.values())))}


def main() -> None:
    """Write the list."""
    parser = argparse.ArgumentParser(prog="ready-kernels", description=__doc__)
    parser.add_argument("--only", nargs="*", choices=PROGRAMS, help="programs to run")
    parser.add_argument(
        "--device", choices=devices(), help="run them there, and keep what ships for others"
    )
    options = parser.parse_args()
    shipped = {device: listed(device) for device in devices()}
    chosen = {d: v for d, v in devices().items() if options.device in (None, d)}
    kernels: dict[Kernel, set[str]] = {}
    for device in shipped.keys() - chosen.keys():
        for kernel in sorted(shipped[device]):
            kernels.setdefault(kernel, set()).add(device)
    for name in options.only or PROGRAMS:
        for device, variables in chosen.items():
            with tempfile.TemporaryDirectory() as folder:
                found = wanted(PROGRAMS[name], variables, Path(folder))
            ships = sum(kernel in shipped[device] for kernel in found)
            print(f"{name} on {device}: {len(found)} kernels, {ships} of them ship", flush=True)
            for kernel in found:
                kernels.setdefault(kernel, set()).add(device)
    if options.only is None:
        write_list(kernels.items())
        print(f"{len(kernels)} kernels, in {LIST}")


if __name__ == "__main__":
    main()
