"""Kernels that ship with the library, for commands that fill caches and tools that build a release."""

from __future__ import annotations

from collections.abc import Sequence

from ._native import C


def spirv(device: int | None = None) -> list[bytes]:
    """Return the SPIR-V of all kernels that ship for a device: building it fills the cache for programs."""
    return C.ready_spirv(_chosen(device))


def image_count(device: int | None = None) -> int:
    """Return how many of them have a native image, in xpu-cpu-images, which this process loads unbuilt."""
    return C.ready_image_count(_chosen(device))


def use_images(wanted: bool) -> None:
    """Let this process load such images, as it does at first, or build what they have for its own CPU."""
    C.use_images_that_ship(wanted)


def build(
    source: str,
    options: Sequence[str] = (),
    sub_group_size: int = 0,
    vector_bytes: int = 0,
    device: int | None = None,
) -> tuple[bytes, bytes]:
    """Return the key and the SPIR-V of a kernel to ship, for CPUs with vector registers of so many bytes.

    0 is for GPUs.
    """
    return C.build_ready_kernel(
        _chosen(device), source, list(options), sub_group_size, vector_bytes
    )


def build_image(spirv: bytes, device: int | None = None) -> bytes:
    """Return the native image of SPIR-V that the driver makes in a helper process, for other machines."""
    return C.build_ready_image(_chosen(device), spirv)


def image_key(spirv: bytes, vector_bytes: int, device: int | None = None) -> bytes:
    """Return the key of such an image for CPUs whose vector registers have so many bytes."""
    return C.ready_image_key(_chosen(device), spirv, vector_bytes)


def _chosen(device: int | None) -> int:
    return C.current_device() if device is None else device
