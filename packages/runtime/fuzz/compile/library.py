"""The functions that expressions are made of, from the device library's table."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from xpu_runtime.codegen.functions import table


@dataclass(frozen=True)
class Dtype:
    """How a dtype is computed in; ``place`` is half of a result's last digit, relative."""

    computed: str  # in C++
    wide: str  # the dtype of what is computed in
    host: type[np.generic]
    place: float


# Functions whose results are stored in 16 bits stop at 14.
DTYPES = {
    "f32": Dtype("float", "f32", np.float32, 2.0**-24),
    "bf16": Dtype("float", "f32", np.float32, 2.0**-15),
    "f16": Dtype("float", "f32", np.float32, 2.0**-15),
    "f64": Dtype("double", "f64", np.float64, 2.0**-53),
    "c64": Dtype("xpu::Complex<float>", "c64", np.complex64, 2.0**-24),
    "c128": Dtype("xpu::Complex<double>", "c128", np.complex128, 2.0**-53),
}


@dataclass(frozen=True)
class Function:
    """One of the table's; ``error`` is its bound in last places, of max(|result|, ``scale``)."""

    header: str
    name: str
    arity: int
    error: float
    scale: float
    logical: bool

    def call(self, *arguments: str) -> str:
        """In C++; of a predicate, the first argument where it holds, elsewhere the last one's negative."""
        call = f"xpu::{self.name}({', '.join(arguments)})"
        return (
            f"xpu::select({call}, {arguments[0]}, xpu::neg({arguments[-1]}))"
            if self.logical
            else call
        )


# Their results are whole numbers: right, or one off where an argument lies at a step.
_WHOLE = ("floor_div", "trunc_div", "logb")


@functools.cache
def functions(dtype: str) -> tuple[Function, ...]:
    """Those that take such a dtype and give it back."""
    is_complex = dtype.startswith("c")
    kind = dtype if dtype in ("f32", "f64") else "f32"
    found = []
    for header, entries in table().items():
        for name, entry in entries.items():
            logical = entry["rule"] in ("predicate", "compare")
            wanted = ("float", "arithmetic", "predicate", "compare", *["complex"] * is_complex)
            if entry["rule"] not in wanted or (is_complex and not _complex(header, name, entry)):
                continue
            exact = logical or entry.get("exact", False) or name in _WHOLE
            error = 0.0 if exact else entry.get("ulp", {}).get(kind, 4.0)
            if is_complex:
                error = max(error, entry.get("complex_ulp", 4.0))
            scale = float(entry.get("scale", 0.0))
            header = "complex_math" if is_complex else header
            found.append(Function(header, name, entry["arity"], error, scale, logical))
    return tuple(found)


def _complex(header: str, name: str, entry: dict[str, object]) -> bool:
    # abs, arg and the like give a real number; polar and complex take two.
    real = name in ("abs", "angle", "arg", "real", "imag", "polar", "complex")
    return not real and bool(entry.get("complex") or entry["rule"] == "complex")
