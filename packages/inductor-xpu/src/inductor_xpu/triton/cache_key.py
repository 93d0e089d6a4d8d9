"""What a kernel's SYCL source depends on besides Triton's: this package, the runtime and the device."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from xpu_runtime import codegen
from xpu_runtime.codegen.target import Target


def digest(target: Target) -> str:
    """Return a digest for the keys of Triton's cache on disk."""
    return hashlib.sha256(f"{_sources()}{target!r}".encode()).hexdigest()


@cache
def _sources() -> str:
    found = hashlib.sha256()
    for folder in (Path(__file__).parent, Path(codegen.__file__).parent):
        files = (file for end in ("py", "toml", "h") for file in folder.rglob(f"*.{end}"))
        for file in sorted(files):
            found.update(file.read_bytes())
    return found.hexdigest()
