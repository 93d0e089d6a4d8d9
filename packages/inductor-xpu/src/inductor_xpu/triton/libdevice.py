"""Functions of CUDA's libdevice, which kernels of Triton call by name, in the words of the device library.

Most are lines of the runtime's functions.toml, which has their names. The others are in the tables here, over
libdevice.h. What is in neither is rejected: arithmetic that rounds up, down or to zero, and Bessel functions
of any order.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources

from xpu_runtime.codegen.functions import find_functions
from xpu_runtime.codegen.vocabulary_error import VocabularyError

PREFIX = "__nv_"
# The rounding of a conversion, as a function of floats before it.
_ROUNDED = {"rn": "round_even({0})", "rz": "trunc({0})", "rd": "floor({0})", "ru": "ceil({0})"}
_TOWARD = {"rz": "Toward::zero", "rd": "Toward::down", "ru": "Toward::up"}
# C's names of types in symbols: the type, and what an operand is converted to first.
_FLOATS = {"float": "float", "double": "double"}
_INTEGERS = {"int": "i32", "uint": "u32", "ll": "i64", "ull": "u64"}

# Symbols that functions.toml has under another name.
_RENAMED = {
    "isnand": "isnan",
    "isinfd": "isinf",
    "signbitd": "signbit",
    "fmaf_rn": "fma",
    "fma_rn": "fma",
    "ddiv_rn": "div_rn",
    "frcp_rn": "rcp_rn",
    "drcp_rn": "rcp_rn",
    "dsqrt_rn": "sqrt_rn",
}
# Symbols with an expression of their own. Names are those of the device library and of libdevice.h.
_EXPRESSIONS = {
    "umulhi": "mul_high((u32){0}, (u32){1})",
    "umul64hi": "mul_high((u64){0}, (u64){1})",
    "uhadd": "mean_floor((u32){0}, (u32){1})",
    "urhadd": "mean_ceil((u32){0}, (u32){1})",
    "mul24": "libdevice::mul24({0}, {1})",
    "umul24": "(((u32){0} & 0xffffffu) * ((u32){1} & 0xffffffu))",
    "sad": "(abs_difference((i32){0}, (i32){1}) + (u32){2})",
    "usad": "(abs_difference((u32){0}, (u32){1}) + (u32){2})",
    "byte_perm": "libdevice::byte_perm({0}, {1}, {2})",
    "fast_fdividef": "({0} / {1})",
    "int_as_float": "bits_as<float>((i32){0})",
    "uint_as_float": "bits_as<float>((u32){0})",
    "float_as_int": "bits_as<i32>({0})",
    "float_as_uint": "bits_as<u32>({0})",
    "longlong_as_double": "bits_as<double>((i64){0})",
    "double_as_longlong": "bits_as<i64>({0})",
    "hiloint2double": "bits_as<double>((u64)(u32){0} << 32 | (u32){1})",
    "double2loint": "(i32)bits_as<u64>({0})",
    "double2hiint": "(i32)(bits_as<u64>({0}) >> 32)",
    "llrint": "to_sat<i64>(round_even({0}))",
    "llround": "to_sat<i64>(round_away({0}))",
    "ilogb": "libdevice::ilogb({0})",
    "ldexp": "ldexp({0}, (i32){1})",
    "scalbn": "ldexp({0}, (i32){1})",
    "powi": "libdevice::powi({0}, {1})",
    "rnorm3d": "rhypot(hypot({0}, {1}), {2})",
    "norm4d": "hypot(norm3d({0}, {1}, {2}), {3})",
    "rnorm4d": "rhypot(norm3d({0}, {1}, {2}), {3})",
}
# Rounded once each: never one instruction with a sum or product beside it.
for _operation in ("add", "sub", "mul"):
    for _kind in "fd":
        _EXPRESSIONS[f"{_kind}{_operation}_rn"] = f"libdevice::{_operation}_rn({{0}}, {{1}})"


def _add_conversions() -> None:
    for name, integer in _INTEGERS.items():
        for real in _FLOATS:
            for mode, rounded in _ROUNDED.items():
                _EXPRESSIONS[f"{real}2{name}_{mode}"] = f"to_sat<{integer}>({rounded})"
            _EXPRESSIONS[f"{name}2{real}_rn"] = f"({real})({integer}){{0}}"
            for mode, toward in _TOWARD.items():
                text = f"libdevice::convert<{real}, {toward}>(({integer}){{0}})"
                _EXPRESSIONS[f"{name}2{real}_{mode}"] = text
    _EXPRESSIONS["double2float_rn"] = "(float){0}"
    for mode, toward in _TOWARD.items():
        _EXPRESSIONS[f"double2float_{mode}"] = f"libdevice::convert<float, {toward}>({{0}})"


_add_conversions()
_HEADERS = ("convert", "core", "exp", "integer", "math")


@dataclass(frozen=True)
class External:
    """A function: an expression over operands {0}, {1}, ..., with headers of the device library.

    ``prelude`` is text that stands once before the kernels of a source.
    """

    template: str
    headers: tuple[str, ...]
    prelude: str = ""


@cache
def find(symbol: str) -> External | None:
    """Return the function of a symbol in TTIR; None if xpu has none."""
    if not symbol.startswith(PREFIX):
        return None
    name = symbol.removeprefix(PREFIX)
    for candidate in (name, name.removesuffix("f")):
        if candidate in _EXPRESSIONS:
            text = _EXPRESSIONS[candidate]
            return External(text, _HEADERS, _prelude() if "libdevice::" in text else "")
        try:
            found = find_functions("libdevice", _RENAMED.get(candidate, candidate))
        except VocabularyError:
            continue
        template = f"(i32){found[0].template}" if found[0].is_predicate else found[0].template
        return External(template, tuple(dict.fromkeys(function.header for function in found)))
    return None


@cache
def _prelude() -> str:
    return resources.files(__package__).joinpath("libdevice.h").read_text()
