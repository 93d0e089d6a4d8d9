"""What is changed in PyTorch for graphs as C++ code: a part of the table of ../patches.py."""

from __future__ import annotations

import functools
import platform
import sys
from typing import Any

from ..patch import Patch


def _device_options(stock: Any) -> Any:
    from .build_options import device_options

    return device_options(stock)


def _header_to_precompile(stock: Any) -> Any:
    from .build_options import header_to_precompile

    return header_to_precompile(stock)


def _device_information(stock: Any) -> Any:
    @functools.wraps(stock)
    def get_device_information(device_type: str) -> Any:
        if device_type != "xpu":
            return stock(device_type)
        return {"AOTI_PLATFORM": sys.platform, "AOTI_MACHINE": platform.machine()}

    return get_device_information


def _write_once(stock: Any) -> Any:
    @functools.wraps(stock)
    def codegen_with_cpp_wrapper(self: Any) -> Any:
        if "xpu" not in self.device_types:
            return stock(self)
        from .operators import more_functions

        with more_functions():
            return self.codegen()

    return codegen_with_cpp_wrapper


def _compile_package(stock: Any) -> Any:
    @functools.wraps(stock)
    def compile(*args: Any, **named: Any) -> Any:
        if named["device_type"] != "xpu":
            return stock(*args, **named)
        from .package import compile_package

        return compile_package(stock, *args, **named)

    return staticmethod(compile)


# Of a module that `import torch` imports: nothing is imported before it is used.


def _serialize(stock: Any) -> Any:
    @functools.wraps(stock)
    def serialize(cls: Any) -> Any:
        from .cache_artifacts import record_kernels

        record_kernels()
        return stock.__func__(cls)

    return classmethod(serialize)


def _register_artifacts(stock: Any) -> Any:
    @functools.wraps(stock)
    def _ensure_cache_artifacts_registered(cls: Any) -> None:
        from . import cache_artifacts  # noqa: F401  registers

        stock.__func__(cls)

    return classmethod(_ensure_cache_artifacts_registered)


AHEAD_PATCHES = (
    Patch(
        "torch.compiler._cache",
        "CacheArtifactManager.serialize",
        "saves graphs without the kernels of xpu that they call",
        _serialize,
    ),
    Patch(
        "torch.compiler._cache",
        "CacheArtifactManager._ensure_cache_artifacts_registered",
        "knows no kernels of xpu",
        _register_artifacts,
    ),
    Patch(
        "torch._inductor.cpp_builder",
        "get_cpp_torch_device_options",
        "wants Level Zero's loader, SYCL's headers and libtorch_xpu.so",
        _device_options,
    ),
    Patch(
        "torch._inductor.codecache",
        "_get_cpp_wrapper_header",
        "names a header that includes those of SYCL and Level Zero",
        _header_to_precompile,
    ),
    Patch(
        "torch._inductor.codecache",
        "get_device_information",
        "says that a package is for one CPU and one device, and compiles programs to find out which CPU",
        _device_information,
    ),
    Patch(
        "torch._inductor.codecache",
        "AotCodeCompiler.compile",
        "puts no kernels of xpu into packages, and nothing that tells what a package is for",
        _compile_package,
    ),
    Patch(
        "torch._inductor.graph",
        "GraphLowering.codegen_with_cpp_wrapper",
        "runs the graph before it writes C++, to compile Triton's kernels",
        _write_once,
    ),
)
