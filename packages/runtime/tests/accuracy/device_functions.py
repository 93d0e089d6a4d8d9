"""The device library's table, and a way to run its functions over arrays."""

from __future__ import annotations

import functools
from typing import Any

import ml_dtypes
import numpy as np

from xpu_runtime.codegen.functions import DEFAULT_ULP, table

FLOATS = ("f16", "bf16", "f32", "f64")
INTEGERS = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
C_TYPES = {
    "f16": "xpu::half",
    "bf16": "xpu::bf16",
    "f32": "float",
    "f64": "double",
    "c64": "xpu::Complex<float>",
    "c128": "xpu::Complex<double>",
    "f8e4m3": "xpu::f8e4m3",
    "f8e5m2": "xpu::f8e5m2",
    "bool": "bool",
    **{f"{s}{n}": f"xpu::{s}{n}" for s in "iu" for n in (8, 16, 32, 64)},
}
# How a type's values look on the host.
HOST = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
    "c64": np.complex64,
    "c128": np.complex128,
    "f8e4m3": ml_dtypes.float8_e4m3fn,
    "f8e5m2": ml_dtypes.float8_e5m2,
    "bool": np.bool_,
    **{f"{s}{n}": np.dtype(f"{s}{n // 8}").type for s in "iu" for n in (8, 16, 32, 64)},
}


def functions(*rules: str, arity: int | None = None) -> list[tuple[str, str]]:
    """(header, name) of the functions with one of these rules."""
    return [
        (header, name)
        for header, entries in table().items()
        for name, entry in entries.items()
        if entry["rule"] in rules and arity in (None, entry["arity"])
    ]


def bound(header: str, name: str, dtype: str) -> float:
    """The error the table allows: half a last place, the rounding itself, for exact functions."""
    entry = table()[header][name]
    return 0.0 if entry.get("exact") else entry.get("ulp", {}).get(dtype, DEFAULT_ULP[dtype])


def dtypes(xr: Any, names: tuple[str, ...] = FLOATS) -> list[str]:
    """Those of the types that the device computes in."""
    return [name for name in names if name != "f64" or xr.devices()[0].fp64]


class Kernels:
    """Kernels of several expressions over arrays of one type, compiled together.

    An expression uses x, y, z, the elements of as many inputs as its arity says.
    """

    def __init__(
        self,
        xr: Any,
        headers: list[str],
        expressions: dict[str, tuple[str, int, str]],
        dtype: str,
        prologue: str = "",
    ) -> None:
        self.xr, self.dtype = xr, dtype
        self.expressions = expressions
        source = "".join(f"#include <xpu/{h}.h>\n" for h in ["convert", *headers]) + prologue
        for name, (expression, arity, result) in expressions.items():
            inputs = range(arity)
            source += f"XPU_KERNEL(1) run_{name}("
            source += "".join(f"xpu::global<const {C_TYPES[dtype]}> in{i}, " for i in inputs)
            source += f"xpu::global<{C_TYPES[result]}> out, long n) {{\n"
            source += "  long i = xpu::global_id();\n  if (i >= n) return;\n  "
            source += " ".join(f"{C_TYPES[dtype]} {'xyz'[i]} = in{i}[i];" for i in inputs)
            source += f"\n  out[i] = {expression};\n}}\n"
        self.module = xr.compile(source)

    def __call__(self, name: str, *inputs: np.ndarray) -> np.ndarray:
        """The expression of every element. Inputs have the host's type for the dtype."""
        result = self.expressions[name][2]
        n = inputs[0].size
        args = [upload(self.xr, x, self.dtype) for x in inputs]
        out = self.xr.empty(n, storage(result))
        self.xr.launch(
            self.module.kernel(f"run_{name}"), -(-n // 256) * 256, 256, [*args, out, np.int64(n)]
        )
        return download(out, result)


def storage(dtype: str) -> str:
    """The dtype whose host array holds the bits."""
    return {"bf16": "u16", "f8e4m3": "u8", "f8e5m2": "u8"}.get(dtype, dtype)


def upload(xr: Any, values: np.ndarray, dtype: str) -> Any:
    """The values on the device, bit for bit."""
    host = np.ascontiguousarray(values, HOST[dtype])
    bits = (
        host.view(np.uint16 if dtype == "bf16" else np.uint8) if dtype != storage(dtype) else host
    )
    return xr.from_numpy(bits)


def download(array: Any, dtype: str) -> np.ndarray:
    """Back as the host's type for the dtype, bit for bit."""
    return array.numpy().view(HOST[dtype])


@functools.cache
def section(header: str, dtype: str, rules: tuple[str, ...]) -> Kernels:
    """All functions of a header with these rules, for one type."""
    import xpu_runtime

    expressions = {}
    for name, entry in table()[header].items():
        if entry["rule"] in rules:
            call = f"xpu::{name}({', '.join('xyz'[: entry['arity']])})"
            result = "bool" if entry["rule"] in ("predicate", "compare") else dtype
            expressions[name] = (call, entry["arity"], result)
    return Kernels(xpu_runtime, [header], expressions, dtype)


def every_bit_pattern(dtype: str) -> np.ndarray:
    """All values of an 8- or 16-bit type."""
    bits = 8 * np.dtype(HOST[dtype]).itemsize
    return np.arange(1 << bits, dtype=f"u{bits // 8}").view(HOST[dtype])


SPECIAL = [
    0.0,
    0.5,
    1.0,
    1.5,
    2.0,
    3.0,
    10.0,
    1e-3,
    np.inf,
    np.nan,
    1e30,
    1e-30,
    1e-44,
    1.17549435e-38,
    3.4028235e38,
]


def sample(dtype: str, count: int, seed: int = 0) -> np.ndarray:
    """Values of a 32- or 64-bit float: all magnitudes evenly, the common and the special ones densely."""
    rng = np.random.default_rng(seed)
    bits = np.dtype(HOST[dtype]).itemsize * 8
    word = f"u{bits // 8}"
    special = np.array(SPECIAL + [-v for v in SPECIAL])
    subnormal = rng.integers(0, 2 ** (23 if bits == 32 else 52), count // 32, dtype=word)
    parts = [
        rng.integers(0, 2**bits, count, dtype=word).view(HOST[dtype]),
        subnormal.view(HOST[dtype]),
        -subnormal.view(HOST[dtype]),
        rng.normal(0, 3, count // 2),
        rng.uniform(0, 1, count // 4),
        rng.uniform(-100, 100, count // 4),
        1 + rng.normal(0, 0.01, count // 8),
        special,
    ]
    with np.errstate(all="ignore"):
        return np.concatenate([part.astype(HOST[dtype]) for part in parts])
