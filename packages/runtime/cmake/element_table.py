"""Write the C++ header of element types from codegen/elements.toml: ``element_table.py OUT``."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

# codegen needs no native module, which is not built yet.
sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

from xpu_runtime.codegen.elements import DTYPES, ELEMENTS, LOW_BIT_FORMATS, Element

HEAD = """\
// Element types. Made by cmake/element_table.py from elements.toml, which explains the columns; do not edit.
#pragma once

"""
# Enumerators of DType and ElementKind whose names in the table are words of C++.
DTYPE_NAMES = {"bool": "boolean"}
KIND_NAMES = {
    "bool": "boolean",
    "int": "signed_integer",
    "uint": "unsigned_integer",
    "float": "floating",
    "complex": "complex",
}
BUILT_IN_TYPES = ("bool", "float", "double")


def dtype_name(element: Element) -> str:
    """Return the enumerator of the element's DType."""
    return DTYPE_NAMES.get(element.name, element.name)


def kernel_type(name: str) -> str:
    """Return the C++ type of the device library as a string literal for any kernel source."""
    return f'"{name}"' if name in BUILT_IN_TYPES else f'"xpu::{name}"'


def dtype_row(element: Element) -> str:
    """Return the row of a dtype."""
    value = element.math if element.kind == "bool" else element.stored
    types = ", ".join(map(kernel_type, (element.stored, value, element.math)))
    kind = KIND_NAMES[element.kind]
    return f'{dtype_name(element)}, "{element.name}", {kind}, {element.size}, {types}'


def low_bit_row(element: Element) -> str:
    """Return the row of a format of low-bit weights."""
    like = (element.kind, element.bits)
    number = element
    if element.packed:
        number = next(e for e in ELEMENTS.values() if (e.kind, e.bits) == like)
    return (
        f'{dtype_name(element)}, "{element.low_bit}", {2 if element.packed else 1}, '
        f"{kernel_type(number.stored)}"
    )


def pjrt_row(element: Element) -> str:
    """Return the row of a PJRT_Buffer_Type."""
    return f"{element.pjrt}, {KIND_NAMES[element.kind]}, {element.bits}, {element.size}"


def macro(comment: str, name: str, rows: Iterable[str]) -> str:
    """Return a macro that applies its argument to each row."""
    lines = " \\\n  ".join(f"X({row})" for row in rows)
    return f"/// {comment}\n#define {name}(X) \\\n  {lines}\n\n"


def header() -> str:
    """Return the text of the header."""
    return HEAD + "".join(
        [
            macro(
                "X(DType, name, kind, bytes, C++ types in memory, of a value, in arithmetic), by number.",
                "XPU_FOR_DTYPES",
                map(dtype_row, DTYPES),
            ),
            macro(
                "X(DType, enumerator of dnnl::memory::data_type) for each DType that oneDNN has.",
                "XPU_FOR_ONEDNN_TYPES",
                (f"{dtype_name(e)}, {e.onednn}" for e in DTYPES if e.onednn),
            ),
            macro(
                "X(DType, enumerator of c10::ScalarType) for each DType that PyTorch has.",
                "XPU_FOR_SCALAR_TYPES",
                (f"{dtype_name(e)}, {e.scalar_type}" for e in DTYPES if e.scalar_type),
            ),
            macro(
                "X(DType, name, numbers in a byte, C++ type of one) for each format of low-bit weights.",
                "XPU_FOR_LOW_BIT_FORMATS",
                map(low_bit_row, LOW_BIT_FORMATS.values()),
            ),
            macro(
                "X(number, ElementKind, bits, bytes) for each PJRT_Buffer_Type.",
                "XPU_FOR_PJRT_TYPES",
                (pjrt_row(e) for e in ELEMENTS.values() if e.pjrt),
            ),
        ]
    )


if __name__ == "__main__":
    out = Path(sys.argv[1])
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(header())
