"""Wheels of PyTorch that torch-xpu is compiled with and not tested in: their headers and libraries."""

from __future__ import annotations

import zipfile
from pathlib import Path

import nox

from .environments import Environment
from .packages import ROOT

#: The versions of PyTorch that a release is compiled for: one of each minor version.
VERSIONS = ("2.13.0", "2.14.1", "2.15.0")
_UNPACKED = ROOT / ".nox" / "torch-wheels"
_LIBRARIES = ("lib/libc10.so", "lib/libtorch_cpu.so", "lib/libtorch_python.so")
#: What CMake reads: headers, three libraries, the version, and the generator of C functions.
PARTS = (
    *("torch/include/", "torch/version.py", "torchgen/"),
    *(f"torch/{name}" for name in _LIBRARIES),
)


def unpack(session: nox.Session, version: str) -> Path:
    """Return the folder `torch` of the version's wheel; download and unpack it if it is not installed."""
    if installed := _installed(version):
        return installed
    folder = _UNPACKED / version
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


def libraries(release: str) -> list[Path]:
    """Return the libraries of the PyTorch that torch-xpu was compiled for, of a release such as 2.13."""
    folder = _installed(release) or next(_UNPACKED.glob(f"{release}.*/torch"))
    return [folder / name for name in _LIBRARIES]


def _installed(version: str) -> Path | None:
    """Return the folder `torch` where wheels are built, or None if another version is installed there."""
    packages = "lib/python3.*/site-packages"
    for file in Environment("wheels").path.glob(f"{packages}/torch/version.py"):
        if f"'{version}" in file.read_text():
            return file.parent
    return None
