"""C++ types of Triton's elements, their literals and their conversions."""

from __future__ import annotations

import struct

from xpu_runtime.codegen.elements import Element as StoredElement
from xpu_runtime.codegen.elements import find_element
from xpu_runtime.codegen.literals import literal
from xpu_runtime.codegen.vocabulary_error import VocabularyError

from .errors import UnsupportedKernelError
from .ir.read import Dense, Number
from .ir.types import Element, Pointer, Scalar

_INTEGERS = {1: "i1", 8: "i8", 16: "i16", 32: "i32", 64: "i64"}
# The types of a kernel's arguments, as xpu_runtime.Launcher names them.
_ARGUMENTS = {"i1": "b1", "i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8"}
_ARGUMENTS |= {"f16": "f2", "bf16": "bf2", "f32": "f4", "f64": "f8"}


def stored(type: Scalar) -> StoredElement:
    """Return the runtime's element type. Raises UnsupportedKernelError for a type that it does not have."""
    name = "i64" if type.name == "index" else type.name
    try:
        return find_element(stablehlo=name)
    except VocabularyError as error:
        reason = "values of this type are not supported on xpu"
        if "tensordesc" in name:
            reason = (
                "descriptors made by the host are not supported on xpu; make them in the kernel"
            )
        raise UnsupportedKernelError(name, reason) from error


def register_type(type: Element) -> str:
    """Return the C++ type of a value in registers; floats of 16 and 8 bits are computed in float."""
    return pointer_type(type) if isinstance(type, Pointer) else stored(type).math


def memory_type(type: Element) -> str:
    """Return the C++ type of a value in memory; booleans and addresses are bytes and 64 bits there."""
    return "i64" if isinstance(type, Pointer) else stored(type).stored


def pointer_type(type: Pointer) -> str:
    """Return the C++ type of an address."""
    return f"global<{memory_type(type.pointee)}>"


def memory_headers(type: Element) -> tuple[str, ...]:
    """Return the headers of the device library that define what an address points to, or a number."""
    while isinstance(type, Pointer):
        type = type.pointee
    header = stored(type).header
    return ("convert", header) if header else ("convert",)


def memory_size(type: Element) -> int:
    """Return the bytes of a value in memory."""
    return 8 if isinstance(type, Pointer) else int(stored(type).size)


def register_size(type: Element) -> int:
    """Return the bytes of a value in registers or local memory."""
    sizes = {"float": 4, "bool": 1, "double": 8}
    return 8 if isinstance(type, Pointer) else sizes.get(stored(type).math, memory_size(type))


def argument_type(type: Element) -> str:
    """Return the type of a kernel's argument, as xpu_runtime.Launcher takes it."""
    return "p" if isinstance(type, Pointer) else _ARGUMENTS[type.name]


def is_narrow(type: Element) -> bool:
    """Return True for a float that is computed in float and rounded after each operation."""
    return isinstance(type, Scalar) and stored(type).narrow


def rounded(type: Scalar, text: str) -> str:
    """Return the text of a result, rounded to its type."""
    element = stored(type)
    return f"(float)to<{element.stored}>({text})" if element.narrow else text


def from_memory(type: Element, text: str) -> str:
    """Return the text of a value that is read from memory."""
    if isinstance(type, Pointer):
        return f"({pointer_type(type)})({text})"
    element = stored(type)
    if element.kind == "bool":
        return f"({text} != 0)"
    return f"(float){text}" if element.narrow else text


def to_memory(type: Element, text: str) -> str:
    """Return the text of a value that is written to memory."""
    if isinstance(type, Pointer):
        return f"(i64)({text})"
    element = stored(type)
    if element.kind == "bool":
        return f"(u8)({text})"
    return f"to<{element.stored}>({text})" if element.narrow else text


def constant(value: object, type: Scalar) -> str:
    """Return the C++ literal of an attribute's number."""
    text = value.text if isinstance(value, Dense | Number) else str(value).lower()
    element = stored(type)
    if element.kind == "bool":
        return "true" if text in ("true", "1", "-1") else "false"
    if element.kind != "float":
        return literal(int(text, 0), element)
    if text.startswith("0x"):
        return literal(_of_bits(int(text, 16), type), element)
    return literal(float(text), element)


def integer(value: object) -> int | None:
    """Return the number of a constant of integers; None for others."""
    text = value.text if isinstance(value, Dense | Number) else str(value).lower()
    try:
        return {"true": 1, "false": 0}[text] if text in ("true", "false") else int(text, 0)
    except ValueError:
        return None


def _of_bits(bits: int, type: Scalar) -> float:
    """Return the float with these bits; narrow types are given by bits of their own width."""
    if type.name == "f64":
        return float(struct.unpack("d", struct.pack("Q", bits))[0])
    if type.name == "f16":
        return float(struct.unpack("e", struct.pack("H", bits))[0])
    if type.name == "bf16":
        bits <<= 16
    elif type.name != "f32":
        return _of_bits_8(bits, type)
    return float(struct.unpack("f", struct.pack("I", bits))[0])


def _of_bits_8(bits: int, type: Scalar) -> float:
    """Return the float with the bits of e5m2 or e4m3fn: the only special values are infinities and NaNs."""
    sign = -1.0 if bits & 0x80 else 1.0
    if type.name == "f8E5M2" and bits & 0x7F == 0x7C:
        return sign * float("inf")
    return float("nan")
