"""The functions that expressions are made of, from the device library's table."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from xpu_runtime.codegen.functions import table


@dataclass(frozen=True)
class Dtype:
    """How a dtype is computed in and stored; places are relative, of a number's last digit."""

    computed: str  # in C++
    wide: str  # the dtype of what is computed in
    host: type[np.generic]
    place: float
    smallest: float
    stored: float
    smallest_stored: float
    largest: float


def _dtype(
    computed: str, wide: str, host: type[np.generic], stored: tuple[int, int, float] | None
) -> Dtype:
    about = np.finfo(host)
    smallest = float(np.ldexp(1.0, about.minexp + about.machep))
    if stored is None:
        place = float(about.eps) / 2
        return Dtype(computed, wide, host, place, smallest, place, smallest, float(about.max))
    # Functions whose results are stored in 16 bits stop at 14.
    digits, least, largest = stored
    return Dtype(computed, wide, host, 2.0**-15, smallest, 2.0**-digits, 2.0**least, largest)


DTYPES = {
    "f32": _dtype("float", "f32", np.float32, None),
    "bf16": _dtype("float", "f32", np.float32, (8, -133, 3.39e38)),
    "f16": _dtype("float", "f32", np.float32, (11, -24, 65504.0)),
    "f64": _dtype("double", "f64", np.float64, None),
    "c64": _dtype("xpu::Complex<float>", "c64", np.complex64, None),
    "c128": _dtype("xpu::Complex<double>", "c128", np.complex128, None),
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
            error = entry.get("ulp", {}).get(kind, 4.0)
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
