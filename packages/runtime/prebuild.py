"""Compiles the kernels a user meets first, so that their SPIR-V ships in the wheel.

Run by the build: ``prebuild.py PACKAGE_PARENT OUT``, with the package just built importable from
PACKAGE_PARENT. Each call below builds what its dtypes and layouts need; the kernel cache keeps the result.
"""

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

DTYPES = ("f32", "bf16", "f16", "i64")


def calls(xr) -> Iterator[None]:
    """One step for each kernel or few."""
    for dtype in DTYPES:
        x, y = xr.zeros((64, 64), dtype), xr.zeros((64, 64), dtype)
        xr.kernels.fill(y.transpose(), 1)
        xr.kernels.copy(y, x.transpose())
        yield
        for other in DTYPES:
            xr.kernels.copy(xr.empty((64, 64), other), x)
        yield
        if dtype != "i64":
            xr.dnn.matmul(x, y)
        index = xr.zeros(64, "i64")
        xr.kernels.index_select(y, x, 0, index)
        xr.kernels.index_combine(y, 0, index, x)
        yield


def main(package_parent: str, out: str) -> None:
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as cache:
        os.environ["XPU_CACHE_DIR"] = f"{cache}/kernels"
        sys.path.insert(0, package_parent)
        import xpu_runtime as xr

        for _ in calls(xr):
            xr.synchronize()
        for path in Path(xr.cache.folder()).glob("*.spv"):
            (folder / path.name).write_bytes(path.read_bytes())
    print(f"{len(list(folder.iterdir()))} kernels prebuilt")


if __name__ == "__main__":
    main(*sys.argv[1:])
