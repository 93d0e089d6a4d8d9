"""How the C++ of graphs on xpu is compiled and linked: with torch-xpu instead of SYCL and Level Zero."""

from __future__ import annotations

import functools
from hashlib import sha256
from pathlib import Path
from typing import Any

import torch_xpu
from torch_xpu.torch_version import COMPILED_FOLDER

PACKAGE_HEADER, WRAPPER_HEADER = "xpu_package.h", "xpu_wrapper.h"
_OWN_HEADERS = Path(__file__).parent / "include"
_FOLDERS = (
    _OWN_HEADERS,
    Path(torch_xpu.__file__).parent / "include",
    COMPILED_FOLDER / "include",
)


def device_options(stock: Any) -> Any:
    """Return a function that returns definitions, folders and libraries; for xpu, those of torch-xpu."""

    @functools.wraps(stock)
    def get_cpp_torch_device_options(device_type: str, *args: Any, **named: Any) -> Any:
        if device_type != "xpu":
            return stock(device_type, *args, **named)
        definitions, headers, flags, linked, folders, libraries, more = stock("cpu", *args, **named)
        return (
            [*definitions, " USE_XPU", f" XPU_HEADERS={_digest_of_headers()}"],
            [*map(str, _FOLDERS), *headers],
            flags,
            linked,
            [*folders, str(COMPILED_FOLDER / "lib")],
            [*libraries, "torch_xpu_device"],
            more,
        )

    return get_cpp_torch_device_options


@functools.cache
def _digest_of_headers() -> str:
    """Return a digest of the headers. As a macro it is part of the key of programs in Inductor's caches."""
    digest = sha256()
    for folder in _FOLDERS:
        for file in sorted(path for path in folder.rglob("*") if path.is_file()):
            digest.update(file.read_bytes())
    return f"0x{digest.hexdigest()[:8]}"


def header_to_precompile(stock: Any) -> Any:
    """Return a function that names the header that programs on a device include first."""

    @functools.wraps(stock)
    def _get_cpp_wrapper_header(device: str, aot_mode: bool = False) -> Any:
        if not device.startswith("xpu"):
            return stock(device, aot_mode)
        return PACKAGE_HEADER if aot_mode else WRAPPER_HEADER

    return _get_cpp_wrapper_header
