"""The C++ of a graph: Inductor's for GPUs, with the kernels of xpu and without SYCL's headers."""

from __future__ import annotations

from typing import Any

import torch
from torch._inductor.codegen.cpp_wrapper_gpu import CppWrapperGpu
from torch._inductor.virtualized import V

from .build_options import PACKAGE_HEADER, WRAPPER_HEADER
from .input_checks import write_input_checks
from .operators import function_name


class CppWrapperXpu(CppWrapperGpu):
    """Writes the calls of kernels and operators of a graph as C++."""

    def __init__(self) -> None:
        super().__init__()
        # The devices and sources of kernels, by their names; a package has them built.
        self.kernel_sources: dict[str, tuple[int, str]] = {}

    @staticmethod
    def create(*args: Any, **named: Any) -> CppWrapperXpu:
        """Return the writer of a graph."""
        return CppWrapperXpu()

    @staticmethod
    def get_device_include_path_jit(device: str) -> str:
        """Return the line that includes what a graph on a device needs."""
        if device != "xpu":
            return str(CppWrapperGpu.get_device_include_path_jit(device))
        return f"#include <{WRAPPER_HEADER}>"

    @staticmethod
    def get_device_include_path_aot(device: str) -> str:
        """Return the line that includes what a package's program on a device needs."""
        if device != "xpu":
            return str(CppWrapperGpu.get_device_include_path_aot(device))
        return f"#include <{PACKAGE_HEADER}>"

    @staticmethod
    def get_c_shim_func_name(kernel: str, device: str) -> str:
        """Return the name of the C function of an operator."""
        name = function_name(kernel)
        return name or str(CppWrapperGpu.get_c_shim_func_name(kernel, device))

    def generate_fallback_kernel_with_runtime_lookup(
        self,
        buf_name: str,
        python_kernel_name: str,
        get_args: Any,
        op_overload: Any,
        raw_args: Any,
        outputs: Any,
    ) -> None:
        """Write the call of an operator without a C function, which in packages cannot take a device."""
        if V.graph.aot_mode and any(
            isinstance(x, torch.device) and x.type == "xpu" for x in raw_args
        ):
            raise NotImplementedError(
                f"torch._inductor: {op_overload} makes a tensor on a device, and has no C function, so "
                "packages on xpu do not take it. Make the tensor outside of the model, and give it as an "
                "input or a buffer."
            )
        super().generate_fallback_kernel_with_runtime_lookup(
            buf_name, python_kernel_name, get_args, op_overload, raw_args, outputs
        )

    def define_user_defined_triton_kernel(self, kernel: Any, *args: Any, **named: Any) -> Any:
        """Raise NotImplementedError: launches of Triton are Python."""
        raise NotImplementedError(
            f"torch._inductor: the Triton kernel {kernel.__name__} cannot be called from C++ code on xpu, so "
            "neither packages nor cpp_wrapper take it. Leave it out of the graph, or use torch.compile "
            "without cpp_wrapper."
        )

    def generate_input_output_runtime_checks(self) -> None:
        """Check inputs in each call: a kernel would read what lies behind them."""
        write_input_checks(self.prefix, V.graph.graph_inputs)
