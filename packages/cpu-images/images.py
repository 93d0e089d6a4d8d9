"""Builds the native images of what xpu-runtime ships: ``images.py VECTOR_BYTES FILE``.

Run by build_images.py with the CPU that the driver compiles for in its environment. Images that the file
has are not built again, and those for other CPUs stay in it.
"""

from __future__ import annotations

import os
import struct
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import xpu_runtime as xr
from xpu_runtime import pack_file


def end_of_intermediate_code(image: bytes) -> int:
    """Return where the image's first section ends. The code that follows is of another kind.

    The image is an ELF file: a table of sections, then the driver's intermediate code and the CPU's.
    """
    (table,) = struct.unpack_from("<Q", image, 40)
    first_section = table + 64
    offset, size = struct.unpack_from("<QQ", image, first_section + 24)
    return offset + size


def known_images(file: Path) -> list[pack_file.Item]:
    """Return the images of a file; none if it is missing or damaged."""
    try:
        return pack_file.read(file)
    except (FileNotFoundError, ValueError, struct.error):
        return []


def main(vector_bytes: int, file: Path) -> None:
    """Build the image of each module for CPUs whose vector registers have so many bytes."""
    ready = pack_file.read(Path(xr.__file__).with_name("kernels.ready"))
    modules = [item.content for item in ready if item.devices & vector_bytes]
    known = known_images(file)
    images = {item.key: item for item in known}

    def build(spirv: bytes) -> pack_file.Item:
        key = xr.ready_kernels.image_key(spirv, vector_bytes)
        if key in images:
            return images[key]
        image = xr.ready_kernels.build_image(spirv)
        return pack_file.Item(key, image, vector_bytes, end_of_intermediate_code(image))

    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        built = list(pool.map(build, modules))
    whole = file.with_suffix(".new")
    pack_file.write(whole, [item for item in known if item.devices != vector_bytes] + built)
    whole.replace(file)


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
