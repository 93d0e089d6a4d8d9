"""Compiles the kernels of kernels.json, so that their SPIR-V ships in the wheel.

Run by the build: ``pack.py PACKAGE_PARENT OUT``, with the package just built importable from PACKAGE_PARENT.
`nox -s ready-kernels` makes the list from what programs want. csrc/compile/pack_file.cpp reads the file.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

LIST = Path(__file__).with_name("kernels.json")
# The part of the list that may be stale before a build of CI fails.
STALE_IN_CI = 1 / 20
# Bytes of the vector registers that kernels may use in assembly, on the machines of each kind.
VECTORS = {"cpu": (32, 64), "gpu": (0,)}


def variants(kernel: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
    """Yield the arguments of every build of a kernel; equal ones are built once, through the cache."""
    for kind in kernel["devices"]:
        for vector in VECTORS[kind]:
            yield kernel["source"], kernel["options"], kernel["sub_group_size"], vector


def main(package_parent: str, out: str) -> None:
    """Build every kernel that still compiles, and say which do not: they are stale, of an older version."""
    # The cache stays beside the result, so that the next build compiles only what changed.
    os.environ["XPU_CACHE_DIR"] = str(Path(out).with_name("ready-cache"))
    sys.path.insert(0, package_parent)
    import xpu_runtime as xr
    from xpu_runtime import _pack_file
    from xpu_runtime._native import C

    def build(arguments: tuple[Any, ...]) -> tuple[bytes, bytes] | str:
        try:
            return C.build_ready_kernel(0, *arguments)
        except (xr.CompileError, xr.UsageError) as error:
            return f"{error}\n{arguments[0]}"

    kernels = json.loads(LIST.read_text())["kernels"]
    kernels.sort(key=lambda kernel: kernel["source"])  # neighbours resemble each other
    wanted = [variant for kernel in kernels for variant in variants(kernel)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(build, wanted))
    stale = [result for result in results if isinstance(result, str)]
    items: dict[bytes, _pack_file.Item] = {}
    for (*_, vector), result in zip(wanted, results, strict=True):
        if not isinstance(result, str):
            key, spirv = result
            known = items[key].devices if key in items else 0
            items[key] = _pack_file.Item(key, spirv, known | (vector or _pack_file.GPU))
    _pack_file.write(Path(out), items.values())
    print(f"{len(kernels)} kernels are ready, in {len(results) - len(stale)} builds")
    if stale:
        print(f"{len(stale)} do not compile; run `nox -s ready-kernels`. The first:\n{stale[0]}")
    if os.environ.get("CI") and len(stale) > len(results) * STALE_IN_CI:
        raise SystemExit("too many kernels are stale")


if __name__ == "__main__":
    main(*sys.argv[1:])
