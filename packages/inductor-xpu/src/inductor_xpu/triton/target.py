"""Triton's description of a device, from which kernels are written in processes that use no device."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xpu_runtime.codegen.target import Target

BACKEND = "xpu"
# Fields of torch.xpu.get_device_capability(), of which Inductor and the driver make their descriptions.
FIELDS = {
    "lanes": "sub_group_size",
    "units": "max_compute_units",
    "max_items": "max_work_group_size",
    "local_memory": "local_mem_size",
}
_MATRIX_UNITS = "has_subgroup_matrix_multiply_accumulate"
# The numbers of columns that matrix units of Intel's GPUs compute at once.
_MATRIX_COLUMNS = (8, 16)


def target_of(capability: Mapping[str, Any]) -> Target:
    """Return the properties that the writers of kernels need, of a dictionary of a device's capabilities.

    Raises ValueError if some are missing, as in a description made for another backend.
    """
    missing = sorted({*FIELDS.values(), "type"} - set(capability))
    if missing:
        raise ValueError(
            f"triton: the target's architecture lacks {', '.join(missing)}; for the device xpu it is the "
            "result of torch.xpu.get_device_capability()"
        )
    gpu = capability["type"] == "gpu"
    return Target(
        **{name: capability[field] for name, field in FIELDS.items()},
        gpu=gpu,
        matrix_lanes=_matrix_lanes(capability) if gpu else 0,
    )


def _matrix_lanes(capability: Mapping[str, Any]) -> int:
    """Return the sub-group size of a GPU's matrix units, the smallest that it has; 0 without such units.

    Where kernels get larger sub-groups than GPUs of Intel need, as under XPU_GENERIC_BACKEND, only what
    every SYCL device has may be used.
    """
    if not capability.get(_MATRIX_UNITS):
        return 0
    lanes = min(capability.get("sub_group_sizes") or [0])
    is_usable = lanes in _MATRIX_COLUMNS and capability["sub_group_size"] in _MATRIX_COLUMNS
    return lanes if is_usable else 0
