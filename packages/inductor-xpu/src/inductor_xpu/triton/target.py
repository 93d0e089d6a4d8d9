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
    return Target(
        **{name: capability[field] for name, field in FIELDS.items()},
        gpu=capability["type"] == "gpu",
    )
