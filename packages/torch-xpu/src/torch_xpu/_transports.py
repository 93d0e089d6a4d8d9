"""Transports of process groups of xpu tensors: the engine that moves what lies in host memory."""

from __future__ import annotations

import os
from datetime import timedelta
from importlib import metadata
from typing import Any

#: The version that csrc/distributed/oneccl was compared with, and that xpu-sdk[oneccl] installs.
ONECCL = "2022.1.2"

#: Of the wheel and of those that it requires, in the order of loading; libsycl is loaded already.
_LIBRARIES = (
    "libintlc.so.5",
    "libirng.so",
    "libimf.so",
    "libsvml.so",
    "libccl.so.2",
    "libccl.so.1",
    "libccl_legacy_cpu.so",
)

#: Set before oneCCL is loaded, unless the user has set them.
_VARIABLES = {
    "CCL_PLUGIN": "ONECCL_LEGACY_CPU",  # host memory
    "CCL_ATL_TRANSPORT": "ofi",  # its other one needs mpirun
    "FI_PROVIDER": "tcp",
    # Its own threads spin, which takes the cores from the CPU device: 70 ms for 8 bytes instead of 1.
    "CCL_WORKER_OFFLOAD": "0",
    "CCL_LOG_LEVEL": "error",  # it warns that there is no mpirun
}


def choose() -> tuple[str, str]:
    """Return the transport's name, "gloo" or "oneccl", and why it is this one."""
    value = os.environ.get("XPU_DISTRIBUTED", "")
    if value in ("gloo", "oneccl"):
        return value, f"XPU_DISTRIBUTED={value}"
    if value:
        raise ValueError(f"XPU_DISTRIBUTED={value}: expected gloo or oneccl")
    return "gloo", "the default: oneCCL does not notice ranks that end"


def check() -> str:
    """Return the transport and the reason, for ``xpu-sdk doctor``; raise if it is not usable."""
    name, reason = choose()
    if name == "oneccl":
        _oneccl_libraries()
    return f"{name} ({reason})"


def _oneccl_libraries() -> list[str]:
    """Return the libraries' files."""
    install = f"install it with: pip install 'xpu-sdk[oneccl]', or oneccl=={ONECCL}"
    try:
        wheel = metadata.distribution("oneccl")
    except metadata.PackageNotFoundError:
        raise RuntimeError(f"XPU_DISTRIBUTED=oneccl: oneCCL is not installed; {install}") from None
    if wheel.version != ONECCL:
        raise RuntimeError(f"XPU_DISTRIBUTED=oneccl: got oneCCL {wheel.version}; {install}")
    for file in wheel.files or ():
        if file.name == "libccl.so.2":
            folder = wheel.locate_file(file).resolve().parent  # type: ignore[attr-defined]
            # Where a library is not in the folder, the loader looks for it by its name.
            paths = ((name, folder / name) for name in _LIBRARIES)
            return [str(path) if path.exists() else name for name, path in paths]
    raise RuntimeError(f"XPU_DISTRIBUTED=oneccl: its wheel has no libccl.so.2; {install}")


def wrap(gloo: Any, store: Any, rank: int, size: int, timeout: timedelta) -> Any:
    """Return the transport that the user chose; it uses the gloo group for what oneCCL lacks.

    Only the default group gets oneCCL, which crashes or hangs when threads use several communicators.
    """
    import torch.distributed as dist

    if choose()[0] == "gloo" or size == 1 or dist.is_initialized():
        return gloo
    from . import _distributed

    paths = _oneccl_libraries()
    for variable, value in _VARIABLES.items():
        os.environ.setdefault(variable, value)
    _distributed.load_oneccl(paths)
    return _distributed.OneCclTransport(store, rank, size, gloo, timeout)
