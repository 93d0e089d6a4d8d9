"""Kernel names of a SPIR-V module, and whether it uses fp64."""

from __future__ import annotations

import array
import sys
from dataclasses import dataclass

_MAGIC = 0x07230203
_ENTRY_POINT, _CAPABILITY, _FUNCTION = 15, 17, 54
_FLOAT64 = 10
_MANGLED = "__sycl_kernel_"


@dataclass(frozen=True)
class ModuleInfo:
    """Names of the kernels of a SPIR-V module, and whether it uses fp64."""

    kernels: tuple[str, ...]
    fp64: bool


def read_module(data: bytes) -> ModuleInfo:
    """Parse a module; raise ValueError if it is not SPIR-V."""
    words = array.array("I", data[: len(data) // 4 * 4])
    if len(words) < 5 or words[0] != _MAGIC or sys.byteorder != "little":
        raise ValueError("not a little-endian SPIR-V module")
    kernels, fp64, at = [], False, 5
    while at < len(words):
        count, opcode = words[at] >> 16, words[at] & 0xFFFF
        if opcode == _FUNCTION or count == 0:
            break  # names and capabilities come before the first function
        if opcode == _CAPABILITY:
            fp64 |= words[at + 1] == _FLOAT64
        elif opcode == _ENTRY_POINT:
            name = words[at + 3 : at + count].tobytes().split(b"\0")[0].decode()
            kernels.append(name.removeprefix(_MANGLED))
        at += count
    return ModuleInfo(tuple(dict.fromkeys(kernels)), fp64)
