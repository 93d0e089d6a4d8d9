"""Types of kernel arguments: Triton's names, the runtime's launcher's, and those of C++."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

# Triton's scalar types: as the launcher takes them, and in C++.
SCALARS = {
    "i1": ("b1", "bool"),
    "u1": ("b1", "bool"),
    "i8": ("i1", "int8_t"),
    "u8": ("u1", "uint8_t"),
    "i16": ("i2", "int16_t"),
    "u16": ("u2", "uint16_t"),
    "i32": ("i4", "int32_t"),
    "u32": ("u4", "uint32_t"),
    "i64": ("i8", "int64_t"),
    "u64": ("u8", "uint64_t"),
    "fp16": ("f2", "double"),
    "bf16": ("bf2", "double"),
    "fp32": ("f4", "double"),
    "f32": ("f4", "double"),
    "fp64": ("f8", "double"),
}


def cpp_type(name: str) -> str:
    """Return the type of C++ that holds an argument of a type of Triton's."""
    return "void*" if name.startswith("*") else SCALARS[name][1]


def launcher_type(name: str) -> str:
    """Return the launcher's name of a type; raise NotImplementedError for one that xpu cannot pass."""
    if name.startswith("*"):
        return "p"
    if name not in SCALARS:
        kind = "descriptors of tensors made on the host" if "desc" in name else f"type {name}"
        raise NotImplementedError(
            f"triton: xpu does not take {kind} as arguments of kernels yet; pass the tensor, and call "
            "tl.make_tensor_descriptor() in the kernel"
        )
    return SCALARS[name][0]


def arguments(signature: Mapping[Any, Any]) -> Iterator[tuple[str, str]]:
    """Return an expression over the arguments ``a0``, ``a1``, ... and a type, for each that a kernel gets.

    Constants are not passed; tuples are passed element by element.
    """
    for number, type in enumerate(signature.values()):
        yield from _elements(f"a{number}", type)


def _elements(expression: str, type: Any) -> Iterator[tuple[str, str]]:
    if isinstance(type, tuple):
        for number, element in enumerate(type):
            yield from _elements(f"{expression}[{number}]", element)
    elif type != "constexpr":
        yield expression, launcher_type(type)
