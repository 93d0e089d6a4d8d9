"""One SYCL runtime for every framework in the process.

Importing this touches no device and loads no vendor library: both wait for the first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0rc1"

# Public name -> the module it lives in. Modules themselves are public names too.
_HOME = {
    "Array": "array",
    "empty": "array",
    "from_numpy": "array",
    "zeros": "array",
    "Device": "_device",
    "current_device": "_device",
    "device": "_device",
    "device_count": "_device",
    "devices": "_device",
    "set_device": "_device",
    "synchronize": "_device",
    "Event": "_stream",
    "Stream": "_stream",
    "current_stream": "_stream",
    "default_stream": "_stream",
    "stream": "_stream",
    "stream_of_handle": "_stream",
    "Kernel": "kernel",
    "Launcher": "kernel",
    "Module": "kernel",
    "compile": "kernel",
    "from_spirv": "kernel",
    "dry_run": "kernel",
    "launch": "kernel",
    "prestart_build_helpers": "kernel",
    "register_tensor_type": "kernel",
    "Graph": "graph",
    "Generator": "random",
    "default_generator": "random",
    "manual_seed": "random",
    "Error": "errors",
    "UsageError": "errors",
    "OutOfResources": "errors",
    "DeviceError": "errors",
    "KernelFault": "errors",
    "OutOfMemory": "errors",
    "Unsupported": "errors",
    "CompileError": "errors",
    "InternalError": "errors",
    "ShuttingDown": "errors",
    "abi_version": "process",
    "generic_backend": "process",
    "is_initialized": "process",
    "library_paths": "process",
}
_MODULES = (
    "cache",
    "cache_archive",
    "dnn",
    "env",
    "errors",
    "faults",
    "kernels",
    "memory",
    "pack_file",
    "process",
    "ready_kernels",
    "trace",
)

__all__ = [*_HOME, *_MODULES]

if TYPE_CHECKING:
    from . import (
        cache,
        cache_archive,
        dnn,
        env,
        errors,
        faults,
        kernels,
        memory,
        process,
        ready_kernels,
        trace,
    )
    from ._device import (
        Device,
        current_device,
        device,
        device_count,
        devices,
        set_device,
        synchronize,
    )
    from ._stream import (
        Event,
        Stream,
        current_stream,
        default_stream,
        stream,
        stream_of_handle,
    )
    from .array import Array, empty, from_numpy, zeros
    from .errors import (
        CompileError,
        DeviceError,
        Error,
        InternalError,
        KernelFault,
        OutOfMemory,
        OutOfResources,
        Unsupported,
        UsageError,
    )
    from .graph import Graph
    from .kernel import (
        Kernel,
        Launcher,
        Module,
        compile,
        dry_run,
        from_spirv,
        launch,
        prestart_build_helpers,
        register_tensor_type,
    )
    from .process import abi_version, generic_backend, is_initialized, library_paths
    from .random import Generator, default_generator, manual_seed


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
    elif name in _MODULES:
        value = importlib.import_module(f".{name}", __name__)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
