"""C++ programs that tests build against the wheels."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

SECONDS = 300


def build_program(sources: Path, folder: Path, prefixes: Iterable[str]) -> None:
    """Build the sources into a folder; CMake finds packages under the prefixes."""
    paths = f"-DCMAKE_PREFIX_PATH={';'.join(prefixes)}"
    for arguments in (("-S", sources, "-B", folder, paths), ("--build", folder)):
        command = ["cmake", *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
        if "PyTorch: CUDA cannot be found" in done.stderr:
            pytest.skip("CMake finds PyTorch's build for CUDA only beside CUDA's libraries")
        assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-3000:]}"
