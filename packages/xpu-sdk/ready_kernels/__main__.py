"""Choose the kernels that ship: run programs and write down what they want: ``nox -s ready-kernels``.

Each program of ``programs/`` lists its cases, which run on the CPU device and on a virtual GPU: all GPUs want
the same. The list
goes to packages/runtime/ready_kernels/kernels.json, from which the build of the runtime makes SPIR-V.
"""

from __future__ import annotations

import argparse
import subprocess

from recording import HERE, LIST, PROGRAMS, Listing, union, wanted
from xpu_sdk.gpu_checks import virtual_gpu
from xpu_sdk.gpu_checks.products import PRODUCTS


def devices() -> dict[str, dict[str, str]]:
    """Return the environment variables of each device that programs run on."""
    return {"cpu": {}, "gpu": virtual_gpu.variables(next(iter(PRODUCTS.values())))}


def say_coverage() -> None:
    """Print how many kernels of models outside the sample programs ship for the CPU."""
    found = union(wanted(HERE / "unseen_models.py", "cpu", {}))
    ships = len(Listing.load().kernels("cpu").intersection(found))
    print(f"{ships} of {len(found)} kernels ship ({ships / len(found):.0%})")


def main() -> None:
    """Write the list. What is not run keeps its kernels; programs that are gone lose theirs."""
    parser = argparse.ArgumentParser(prog="ready-kernels", description=__doc__)
    parser.add_argument("--only", nargs="*", choices=PROGRAMS, help="programs to run")
    parser.add_argument("--device", choices=devices(), help="the device to run them on")
    parser.add_argument(
        "--coverage",
        action="store_true",
        help="say what ships of models outside the sample programs",
    )
    options = parser.parse_args()
    if options.coverage:
        say_coverage()
        return
    failed = []
    for name in options.only or PROGRAMS:
        for device, variables in devices().items():
            if options.device not in (None, device):
                continue
            try:
                cases = wanted(PROGRAMS[name], device, variables)
            except subprocess.CalledProcessError:
                failed.append(f"{name} on {device}")
                continue
            found = union(cases)
            listing = Listing.load()  # another run may have written it, for another device
            ships = len(listing.kernels(device).intersection(found))
            print(f"{name} on {device}: {len(found)} kernels, {ships} of them ship", flush=True)
            listing.replace(name, device, cases)
            listing.save()
    listing = Listing.load()
    listing.keep_programs(PROGRAMS)
    listing.save()
    print(", ".join(f"{len(listing.kernels(d))} kernels for {d}" for d in devices()), f"in {LIST}")
    if failed:
        raise SystemExit(f"failed, and kept as they were: {', '.join(failed)}")


if __name__ == "__main__":
    main()
