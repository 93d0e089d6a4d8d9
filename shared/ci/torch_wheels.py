"""Wheels of PyTorch that torch-xpu is compiled with and not tested in: their headers and libraries."""

from __future__ import annotations

import zipfile
from pathlib import Path

import nox

from .environments import Environment
from .packages import ROOT

#: The versions of PyTorch that a release is compiled for: one of each minor version.
VERSIONS = ("2.13.0", "2.14.1", "2.15.0")
#: What CMake reads: headers, three libraries, the version, and the generator of C functions.
PARTS = (
    *("torch/include/", "torch/version.py", "torch/lib/libc10.so"),
    *("torch/lib/libtorch_cpu.so", "torch/lib/libtorch_python.so", "torchgen/"),
)


def unpack(session: nox.Session, version: str) -> Path:
    """Return the folder `torch` of the version's wheel; download and unpack it if it is not installed."""
    for installed in Environment("wheels").path.glob(
        "lib/python3.*/site-packages/torch/version.py"
    ):
        if f"'{version}" in installed.read_text():
            return installed.parent
    folder = ROOT / ".nox" / "torch-wheels" / version
    complete = folder / "complete"
    if not complete.exists():
        environment = Environment("wheels")
        environment.create(session)
        download = ["-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder)]
        environment.python(session, *download, f"torch=={version}")
        (wheel,) = folder.glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                if name.startswith(PARTS):
                    archive.extract(name, folder)
        wheel.unlink()
        complete.touch()
    return folder / "torch"
