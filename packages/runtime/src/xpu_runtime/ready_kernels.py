"""Kernels that ship, with the library and in packages of compiled programs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from . import pack_file
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


def package(
    path: str | os.PathLike[str], sources: Iterable[str], device: int | None = None
) -> None:
    """Write a file of kernels, by source, that ``add()`` gives to processes which must not compile them.

    It has SPIR-V, which other machines build, and native code for this device and driver. What caches
    have is not built again. The sources are of kernels without options and with the device's own
    sub-group size.
    """
    build_entries = partial(C.build_package_entries, _chosen(device))
    contents: dict[bytes, bytes] = {}
    # Helper processes build, so the threads only wait.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for entries in pool.map(build_entries, dict.fromkeys(sources)):
            contents.update(entries)
    pack_file.write(
        Path(path), [pack_file.Item(key, content, 0) for key, content in contents.items()]
    )


def add(path: str | os.PathLike[str]) -> None:
    """Let builds of this process take kernels from a file that ``package()`` wrote.

    The file must not change, but may be deleted. What is damaged in it is compiled, with one warning.
    """
    C.add_kernels(os.fspath(path))


def _chosen(device: int | None) -> int:
    return C.current_device() if device is None else device
