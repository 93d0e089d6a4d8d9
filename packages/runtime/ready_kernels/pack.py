"""Compiles the kernels of kernels.json, so that their SPIR-V ships in the wheel.

Run by the build: ``pack.py PACKAGE_PARENT OUT``, with the package just built importable from PACKAGE_PARENT.
`nox -s ready-kernels` makes the list from what programs want. csrc/compile/ready_kernels.cpp reads the file.
"""

from __future__ import annotations

import json
import os
import struct
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import Any

LIST = Path(__file__).with_name("kernels.json")
MAGIC = b"XPUREAD2"
HEAD, ENTRY = struct.Struct("<8sQ"), struct.Struct("<32s32sQQQ")
# The part of the list that may be stale before a build of CI fails.
STALE_IN_CI = 1 / 20
# Bytes of the vector registers that kernels may use in assembly, on the machines of each kind. An entry has
# the sum of those that it is for, and GPU for GPUs.
VECTORS = {"cpu": (32, 64), "gpu": (0,)}
GPU = 1


def variants(kernel: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
    """Yield the arguments of every build of a kernel; equal ones are built once, through the cache."""
    for kind in kernel["devices"]:
        for vector in VECTORS[kind]:
            yield kernel["source"], kernel["options"], kernel["sub_group_size"], vector


def write(path: Path, built: dict[bytes, tuple[bytes, int]]) -> None:
    """Write the head, the entries by rising key, and the SPIR-V of each."""
    at = HEAD.size + ENTRY.size * len(built)
    entries, bodies = [], []
    for key, (spirv, devices) in sorted(built.items()):
        entries.append(ENTRY.pack(key, sha256(spirv).digest(), at, len(spirv), devices))
        bodies.append(spirv)
        at += len(spirv)
    path.write_bytes(b"".join([HEAD.pack(MAGIC, len(built)), *entries, *bodies]))


def main(package_parent: str, out: str) -> None:
    """Build every kernel that still compiles, and say which do not: they are stale, of an older version."""
    # The cache stays beside the result, so that the next build compiles only what changed.
    os.environ["XPU_CACHE_DIR"] = str(Path(out).with_name("ready-cache"))
    sys.path.insert(0, package_parent)
    import xpu_runtime as xr
    from xpu_runtime._native import C

    def build(arguments: tuple[Any, ...]) -> tuple[bytes, bytes] | str:
        try:
            return C.build_ready_kernel(0, *arguments)
        except (xr.CompileError, xr.UsageError) as error:
            return f"{error}\n{arguments[0]}"

    kernels = json.loads(LIST.read_text())["kernels"]
    wanted = [variant for kernel in kernels for variant in variants(kernel)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(build, wanted))
    stale = [result for result in results if isinstance(result, str)]
    built: dict[bytes, tuple[bytes, int]] = {}
    for (*_, vector), result in zip(wanted, results, strict=True):
        if not isinstance(result, str):
            key, spirv = result
            built[key] = spirv, built.get(key, (b"", 0))[1] | (vector or GPU)
    write(Path(out), built)
    print(f"{len(kernels)} kernels are ready, in {len(results) - len(stale)} builds")
    if stale:
        print(f"{len(stale)} do not compile; run `nox -s ready-kernels`. The first:\n{stale[0]}")
    if os.environ.get("CI") and len(stale) > len(results) * STALE_IN_CI:
        raise SystemExit("too many kernels are stale")


if __name__ == "__main__":
    main(*sys.argv[1:])
