"""Compiles the kernels of kernels.json, so that their SPIR-V ships in the wheel.

Run by the build: ``pack.py PACKAGE_PARENT FOLDER PROGRAMS``, with the package just built importable from
PACKAGE_PARENT. It writes kernels.ready, the SPIR-V, and programs.ready, the keys of what each case of a
program wants, in that order. PROGRAMS are names of sample programs with commas, or "all", as for a release.
`nox -s ready-kernels` makes the list by running the programs.
csrc/compile/stores/pack_file.cpp reads the files.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

LIST = Path(__file__).with_name("kernels.json")
# The part of the list that may be stale before a build of CI fails.
STALE_IN_CI = 1 / 20
# Bytes of the vector registers that kernels may use in assembly, on the machines of each kind.
VECTORS = {"cpu": (32, 64), "gpu": (0,)}


class Build(NamedTuple):
    """A kernel by its number in the list, for machines with such vector registers."""

    kernel: int
    vector_bytes: int


def orders(content: dict[str, Any], programs: str) -> Iterator[tuple[str, int, list[Build]]]:
    """Yield cases of the named programs, kinds of machines, and what the case wants there."""
    for case, devices in content["cases"].items():
        if programs != "all" and case.partition("/")[0] not in programs.split(","):
            continue
        for device, order in devices.items():
            for vector in VECTORS[device]:
                yield case, vector, [Build(kernel, vector) for kernel in order]


def main(package_parent: str, folder: str, programs: str) -> None:
    """Build every kernel that still compiles, and say which do not: they are stale, of an older version."""
    # The user's, so that the next build compiles only what changed, also that of another clone. Its keys are
    # digests of sources and of the compiler's version.
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    os.environ["XPU_CACHE_DIR"] = str(Path(home) / "xpu-sdk" / "build")
    sys.path.insert(0, package_parent)
    import xpu_runtime as xr
    from xpu_runtime import pack_file

    content = json.loads(LIST.read_text())
    kernels = content["kernels"]

    def build(wanted: Build) -> tuple[bytes, bytes] | str:
        kernel = kernels[wanted.kernel]
        source = kernel["source"]
        try:
            return xr.ready_kernels.build(
                source, kernel["options"], kernel["sub_group_size"], wanted.vector_bytes
            )
        except (xr.CompileError, xr.UsageError) as error:
            return f"{error}\n{source}"

    wanted = {each for *_, order in orders(content, programs) for each in order}
    # Sorted by source, neighbors resemble each other.
    builds = sorted(wanted, key=lambda each: (kernels[each.kernel]["source"], each))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = dict(zip(builds, pool.map(build, builds), strict=True))
    stale = [result for result in results.values() if isinstance(result, str)]
    ready = {each: result for each, result in results.items() if not isinstance(result, str)}

    modules: dict[bytes, pack_file.Item] = {}
    for each, (key, spirv) in ready.items():
        known = modules[key].devices if key in modules else 0
        devices = known | (each.vector_bytes or pack_file.GPU)
        modules[key] = pack_file.Item(key, spirv, devices)
    pack_file.write(Path(folder) / "kernels.ready", modules.values())
    cases = []
    for case, vector, order in orders(content, programs):
        keys = b"".join(ready[each][0] for each in order if each in ready)
        name = sha256(f"{case} {vector}".encode()).digest()
        cases.append(pack_file.Item(name, keys, vector or pack_file.GPU))
    pack_file.write(Path(folder) / "programs.ready", cases)

    print(f"{len({each.kernel for each in ready})} kernels are ready, in {len(ready)} builds")
    if stale:
        print(f"{len(stale)} do not compile; run `nox -s ready-kernels`. The first:\n{stale[0]}")
    if os.environ.get("CI") and len(stale) > len(results) * STALE_IN_CI:
        raise SystemExit("too many kernels are stale")


if __name__ == "__main__":
    main(*sys.argv[1:])
