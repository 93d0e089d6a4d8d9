"""What Inductor writes into compiled code for devices and streams."""

from __future__ import annotations

from torch._inductor.codegen.common import get_device_op_overrides, register_device_op_overrides


def register_device_operations() -> None:
    """Let compiled code give launches the handles of streams.

    The stock function returns the address of a SYCL queue: once it is asked for, work goes through SYCL.
    """
    stock = get_device_op_overrides("xpu")

    class DeviceOperations(type(stock)):  # type: ignore[misc]
        def import_get_raw_stream_as(self, name: str) -> str:
            return f"from torch_xpu.compiled_code import current_stream as {name}"

        # In C++, the headers of ahead/include have what kernels need.

        def kernel_header(self) -> str:
            return ""

        def kernel_driver(self) -> str:
            return ""

        def cpp_kernel_type(self) -> str:
            return "XpuKernel"

    register_device_op_overrides("xpu", DeviceOperations())
