"""``torch.xpu.get_device_properties``."""

from __future__ import annotations

import uuid
from typing import Any

# PyTorch's field -> the runtime's.
_FIELDS = {
    "name": "name",
    "platform_name": "platform",
    "vendor": "vendor",
    "device_id": "device_id",
    "driver_version": "driver_version",
    "version": "version",
    "max_compute_units": "max_compute_units",
    "gpu_eu_count": "eu_count",
    "max_work_group_size": "max_work_group_size",
    "max_num_sub_groups": "max_sub_groups",
    "memory_clock_rate": "memory_clock_mhz",
    "memory_bus_width": "memory_bus_bits",
    "sub_group_sizes": "sub_group_sizes",
    # Kernels that are compiled at run time have this one.
    "sub_group_size": "sub_group_size",
    "local_mem_size": "local_memory",
    "last_level_cache_size": "cache_size",
    "has_fp16": "fp16",
    "has_fp64": "fp64",
    "has_atomic64": "atomic64",
    "has_bfloat16_conversions": "bf16_conversions",
    "has_subgroup_matrix_multiply_accumulate": "matrix",
    "is_integrated_gpu": "unified_memory",
    "total_memory": "total_memory",
    "architecture": "architecture",
    "type": "type",
}


class _XpuDeviceProperties:
    """Properties of a device; every field is read from the driver."""

    has_subgroup_matrix_multiply_accumulate_tensor_float32 = False
    has_subgroup_2d_block_io = False

    def __init__(self, index: int) -> None:
        import xpu_runtime

        info: dict[str, Any] = xpu_runtime.Device(index).properties()
        for name, ours in _FIELDS.items():
            setattr(self, name, info[ours])
        self.gpu_subslice_count = info["slices"] * info["subslices_per_slice"]
        if info["type"] == "gpu" and not self.gpu_subslice_count:
            # Other vendors' GPUs report no slices; their compute units are PyTorch's multiprocessors.
            # With 0 of them Inductor splits no reduction.
            self.gpu_subslice_count = info["max_compute_units"]
        if not info["eu_count"]:
            # Programs divide work by it, as liger-kernel.
            self.gpu_eu_count = info["max_compute_units"]
        self.uuid = uuid.UUID(info["uuid"]) if info["uuid"] else None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _XpuDeviceProperties) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((self.name, self.uuid))  # type: ignore[attr-defined]

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"_XpuDeviceProperties({fields})"


def properties(index: int) -> _XpuDeviceProperties:
    """Return the properties of a device, read from the driver at each call."""
    return _XpuDeviceProperties(index)
