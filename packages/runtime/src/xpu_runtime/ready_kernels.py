"""Kernels that ship with the library, for commands that fill caches and tools that build a release."""

from __future__ import annotations

from ._native import C


def spirv(device: int | None = None) -> list[bytes]:
    """Return the SPIR-V of all kernels that ship for a device: building it fills the cache for programs."""
    return C.ready_spirv(C.current_device() if device is None else device)


def image_count(device: int | None = None) -> int:
    """Return how many of them have a native image, in xpu-cpu-images, which this process loads unbuilt."""
    return C.ready_image_count(C.current_device() if device is None else device)
