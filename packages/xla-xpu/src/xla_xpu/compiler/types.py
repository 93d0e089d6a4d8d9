"""Element and array types, with their names in StableHLO, PJRT, the runtime and kernels."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import ml_dtypes
import numpy as np
from xpu_runtime.codegen.affine import row_major


@dataclass(frozen=True)
class Element:
    """An element type.

    ``runtime``: the runtime's dtype of the stored element. ``math``: the C++ type in which kernels compute.
    ``stored``: the C++ type that kernels load and store. ``kind``: "bool", "int", "uint", "float", "complex".
    """

    name: str
    pjrt: int
    numpy: np.dtype
    runtime: str
    math: str
    stored: str
    kind: str

    @property
    def size(self) -> int:
        """Bytes of a stored element; one of fewer than 8 bits fills a byte."""
        return self.numpy.itemsize

    @property
    def math_size(self) -> int:
        """The bytes of the type in which kernels compute."""
        return 4 if self.narrow else self.size

    @property
    def bits(self) -> int:
        """Bits that carry the value: fewer than the stored ones for bool and types below a byte."""
        return _BITS.get(self.name, 8 * self.size)

    @property
    def narrow(self) -> bool:
        """A float that kernels compute in f32."""
        return self.kind == "float" and self.math != self.stored

    @property
    def foreign(self) -> bool:
        """A float that the runtime moves but cannot compute with."""
        return self.kind == "float" and self.runtime == "u8"


# Bits of types that do not fill their byte.
_BITS = {"i1": 1, "i2": 2, "ui2": 2, "i4": 4, "ui4": 4, "f4E2M1FN": 4}


def _element(
    name: str, pjrt: int, numpy: Any, runtime: str, math: str, kind: str, stored: str = ""
) -> Element:
    return Element(name, pjrt, np.dtype(numpy), runtime, math, stored or math, kind)


ELEMENTS = {
    element.name: element
    for element in (
        _element("i1", 1, np.bool_, "bool", "bool", "bool", "u8"),
        _element("i8", 2, np.int8, "i8", "i8", "int"),
        _element("i16", 3, np.int16, "i16", "i16", "int"),
        _element("i32", 4, np.int32, "i32", "i32", "int"),
        _element("i64", 5, np.int64, "i64", "i64", "int"),
        _element("ui8", 6, np.uint8, "u8", "u8", "uint"),
        _element("ui16", 7, np.uint16, "u16", "u16", "uint"),
        _element("ui32", 8, np.uint32, "u32", "u32", "uint"),
        _element("ui64", 9, np.uint64, "u64", "u64", "uint"),
        _element("f16", 10, np.float16, "f16", "float", "float", "half"),
        _element("f32", 11, np.float32, "f32", "float", "float"),
        _element("f64", 12, np.float64, "f64", "double", "float"),
        _element("bf16", 13, ml_dtypes.bfloat16, "bf16", "float", "float", "bf16"),
        _element("complex<f32>", 14, np.complex64, "c64", "Complex<float>", "complex"),
        _element("complex<f64>", 15, np.complex128, "c128", "Complex<double>", "complex"),
        _element("f8E5M2", 16, ml_dtypes.float8_e5m2, "f8e5m2", "float", "float", "f8e5m2"),
        _element("f8E4M3FN", 17, ml_dtypes.float8_e4m3fn, "f8e4m3", "float", "float", "f8e4m3"),
        *(
            _element(name, pjrt, numpy, "u8", "float", "float", stored)
            for name, pjrt, numpy, stored in (
                ("f8E4M3B11FNUZ", 18, ml_dtypes.float8_e4m3b11fnuz, "f8e4m3b11fnuz"),
                ("f8E5M2FNUZ", 19, ml_dtypes.float8_e5m2fnuz, "f8e5m2fnuz"),
                ("f8E4M3FNUZ", 20, ml_dtypes.float8_e4m3fnuz, "f8e4m3fnuz"),
                ("f8E4M3", 26, ml_dtypes.float8_e4m3, "f8e4m3_ieee"),
                ("f8E3M4", 27, ml_dtypes.float8_e3m4, "f8e3m4"),
                ("f8E8M0FNU", 28, ml_dtypes.float8_e8m0fnu, "f8e8m0"),
                ("f4E2M1FN", 29, ml_dtypes.float4_e2m1fn, "f4e2m1"),
            )
        ),
        _element("i4", 21, ml_dtypes.int4, "i8", "i8", "int"),
        _element("ui4", 22, ml_dtypes.uint4, "u8", "u8", "uint"),
        _element("i2", 24, ml_dtypes.int2, "i8", "i8", "int"),
        _element("ui2", 25, ml_dtypes.uint2, "u8", "u8", "uint"),
    )
}

TOKEN = Element("token", 23, np.dtype(np.bool_), "bool", "bool", "u8", "token")


def unknown(name: str) -> Element:
    """Return an element type that no operation supports; each use is rejected with its name."""
    return _element(name, 0, np.uint8, "u8", "u8", "unknown")


@dataclass(frozen=True)
class Type:
    """An array's element type and shape."""

    element: Element
    shape: tuple[int, ...]

    @cached_property
    def count(self) -> int:
        """Number of elements; 1 for a scalar."""
        return math.prod(self.shape)

    @property
    def bytes(self) -> int:
        """Bytes of a contiguous array of the type; 0 for a token, which has no memory."""
        return 0 if self.element is TOKEN else self.count * self.element.size

    @cached_property
    def strides(self) -> tuple[int, ...]:
        """Row-major, in elements."""
        return row_major(self.shape)

    def __str__(self) -> str:
        return f"{self.element.name}[{','.join(map(str, self.shape))}]"
