"""Operations on elements: arithmetic, comparisons, functions, conversions between types."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import torch

from .case import FLOATS, INTEGERS, NAMES, NUMBERS, SIGNED, TYPES, Case, Numbers, elementwise

# An expression by the types that have it. Divisors are not zero, shifts are less than the width.
BINARY = {
    "add": ("a + b", NUMBERS),
    "sub": ("a - b", NUMBERS),
    "mul": ("a * b", NUMBERS),
    "and": ("a & b", ("b1", *INTEGERS)),
    "or": ("a | b", ("b1", *INTEGERS)),
    "xor": ("a ^ b", ("b1", *INTEGERS)),
    "minimum": ("tl.minimum(a, b)", NUMBERS),
    "maximum": ("tl.maximum(a, b)", NUMBERS),
    "where": ("tl.where(a > b, a, b)", NUMBERS),
    "fma": ("tl.fma(a, b, a)", FLOATS),
}
DIVIDED = {
    "truediv": ("a / b", FLOATS),
    "floordiv": ("a // b", INTEGERS),
    "mod": ("a % b", NUMBERS),
    "cdiv": ("tl.cdiv(a, b)", ("i32", "i64", "u32")),
    "fdiv": ("tl.fdiv(a, b)", ("f32", "f64")),
    "div_rn": ("tl.div_rn(a, b)", ("f32",)),
}
COMPARISONS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}
UNARY = {
    "neg": ("-a", SIGNED + FLOATS),
    "invert": ("~a", SIGNED),
    "not": ("(not a) if False else a == 0", ("i32", "f32")),
    "abs": ("tl.abs(a)", NUMBERS),
    "floor": ("tl.floor(a)", ("f32", "f64")),
    "ceil": ("tl.ceil(a)", ("f32", "f64")),
    "exp": ("tl.exp(a)", ("f32", "f64")),
    "exp2": ("tl.exp2(a)", ("f32", "f64")),
    "sin": ("tl.sin(a)", ("f32", "f64")),
    "cos": ("tl.cos(a)", ("f32", "f64")),
    "erf": ("tl.erf(a)", ("f32", "f64")),
    "sigmoid": ("tl.sigmoid(a)", ("f32", "f64")),
}
OF_POSITIVE = {
    "log": ("tl.log(a)", ("f32", "f64")),
    "log2": ("tl.log2(a)", ("f32", "f64")),
    "sqrt": ("tl.sqrt(a)", ("f32", "f64")),
    "sqrt_rn": ("tl.sqrt_rn(a)", ("f32",)),
    "rsqrt": ("tl.rsqrt(a)", ("f32", "f64")),
}
# Of pairs, where CUDA's promotion has a rule of its own.
MIXED = (
    ("i8", "f32"),
    ("i32", "f16"),
    ("i64", "bf16"),
    ("i8", "i32"),
    ("u8", "i8"),
    ("u32", "i32"),
    ("i32", "u64"),
    ("f16", "f32"),
    ("bf16", "f16"),
    ("f32", "f64"),
    ("b1", "i32"),
)
CONVERTED = ("b1", "i8", "i32", "i64", "u8", "u32", "f16", "bf16", "f32", "f64")
_ignoring_nan = {"minimum": torch.fmin, "maximum": torch.fmax}
MINIFLOATS = ("f8e4m3", "f8e5m2")


def cases() -> Iterator[Case]:
    """Return all cases of this file."""
    for name, (expression, types) in BINARY.items():
        for type in types:
            yield elementwise(f"{name}-{type}", expression, type)
    for name, (expression, types) in DIVIDED.items():
        for type in types:
            inputs = (Numbers(type), Numbers(type, kind="nonzero"))
            yield elementwise(f"{name}-{type}", expression, inputs)
    for name, symbol in COMPARISONS.items():
        for type in NUMBERS:
            kind = "special" if type in FLOATS else (0, 8)
            inputs = (Numbers(type, kind=kind), Numbers(type, kind=kind))
            yield elementwise(f"{name}-{type}", f"(a {symbol} b)", inputs, "b1")
    for name, (expression, types) in UNARY.items():
        for type in types:
            yield elementwise(f"{name}-{type}", expression, type, "b1" if name == "not" else "")
    for name, (expression, types) in OF_POSITIVE.items():
        for type in types:
            yield elementwise(f"{name}-{type}", expression, (Numbers(type, kind="positive"),))
    yield from _shifts()
    yield from _limits()
    yield from _conversions()
    for left, right in MIXED:
        inputs = (Numbers(left), Numbers(right))
        limit = 2e-2 if "bf16" in (left, right) else None  # the interpreter has none
        name, text = f"mixed-{left}-{right}", "(a + b).to(tl.float32)"
        yield elementwise(name, text, inputs, "f32", limit)


def _shifts() -> Iterator[Case]:
    for type in INTEGERS:
        inputs = (Numbers(type), Numbers(type, kind=(0, 8)))
        yield elementwise(f"shl-{type}", "a << b", inputs)
        yield elementwise(f"shr-{type}", "a >> b", inputs)


def _limits() -> Iterator[Case]:
    """Functions with a rule for NaN, zero or the high half of a product."""
    for type in ("f16", "bf16", "f32", "f64"):
        inputs = (Numbers(type, kind="special"), Numbers(type, kind="special"))
        for function in ("minimum", "maximum"):
            for rule, expected in (
                ("ALL", getattr(torch, function)),
                ("NONE", _ignoring_nan[function]),
            ):
                text = f"tl.{function}(a, b, propagate_nan=tl.PropagateNan.{rule})"
                name = f"{function}-nan-{rule}-{type}"
                yield elementwise(name, text, inputs, expected=expected)
        bounds = (*inputs[:1], Numbers(type, kind=(-2, 0)), Numbers(type, kind=(0, 3)))
        yield elementwise(f"clamp-{type}", "tl.clamp(a, b, c)", bounds, expected=_clamped)
    for type, high in (("i32", 2**31), ("u32", 2**31), ("i64", 2**62), ("u64", 2**62)):
        inputs = (Numbers(type, kind=(0, high)), Numbers(type, kind=(0, high)))
        yield elementwise(f"umulhi-{type}", "tl.umulhi(a, b)", inputs)
    yield elementwise("logical", "(a > 0).logical_and(b > 0).logical_or(a == b)", "i32", "b1")
    yield elementwise("constants", "a * 2.5 + 1 - 1 / 3", "f32")
    yield elementwise("integer_constants", "a * 3 + 0x10 - (a // 4)", "i32")
    yield elementwise("not_a_power_of_lanes", "a + b", "f32", size=8)
    yield elementwise("one_element", "a + b", "f32", size=1)
    yield elementwise("large", "a * b + 1.0", "f32", size=4096)


def _conversions() -> Iterator[Case]:
    for source in CONVERTED:
        for target in CONVERTED:
            if source == target:
                continue
            unsigned = target.startswith("u") or source.startswith("u")
            kind: str | tuple[int, int] = (0, 100) if unsigned else (-100, 100)
            kind = (0, 2) if source == "b1" else kind
            if source in FLOATS and target in FLOATS:
                kind = "special"
            text = f"a.to({NAMES[target]})"
            yield elementwise(f"to-{source}-{target}", text, (Numbers(source, kind=kind),), target)
    for narrow in MINIFLOATS:
        for wide in FLOATS[:3]:
            text = f"a.to({NAMES[narrow]})"
            expected = partial(torch.Tensor.to, dtype=TYPES[narrow])
            yield elementwise(f"to-{wide}-{narrow}", text, wide, narrow, expected=expected)
            yield elementwise(f"to-{narrow}-{wide}", f"a.to({NAMES[wide]})", narrow, wide)
    for target in ("f16", "bf16", "f8e5m2"):
        text = f'a.to({NAMES[target]}, fp_downcast_rounding="rtz")'
        expected = partial(_toward_zero, dtype=TYPES[target])
        yield elementwise(f"toward_zero-f32-{target}", text, "f32", target, expected=expected)
    for source, target in (
        ("f32", "i32"),
        ("i32", "f32"),
        ("f16", "i16"),
        ("i64", "f64"),
        ("u8", "i8"),
    ):
        inputs = (Numbers(source),)
        text = f"a.to({NAMES[target]}, bitcast=True)"
        yield elementwise(f"bitcast-{source}-{target}", text, inputs, target)


def _clamped(x: torch.Tensor, low: torch.Tensor, high: torch.Tensor) -> torch.Tensor:
    return torch.fmin(torch.fmax(x, low), high)


def _toward_zero(x: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Return the nearest numbers of a type that are not larger."""
    near = x.to(dtype)
    kind = torch.int16 if dtype.itemsize == 2 else torch.int8
    lower = (near.view(kind) - 1).view(dtype)
    return torch.where(near.float().abs() > x.abs(), lower.float(), near.float()).to(dtype)
