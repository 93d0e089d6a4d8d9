"""C++ expressions that convert elements by value or by bits."""

from __future__ import annotations

from .elements import Element


def convert(source: Element, target: Element, text: str, saturates: bool = False) -> str:
    """Convert by value: floats saturate to integers, complex numbers lose their imaginary part.

    With ``saturates`` numbers too large for a narrow float become its largest one.
    """
    if source == target:
        return text
    if source.kind == "complex" and target.kind == "bool":
        return f"({text}.re != 0 || {text}.im != 0)"
    if source.kind == "complex" and target.kind != "complex":
        is_double = source.math == "Complex<double>"
        return _real("float", is_double, target, f"{text}.re", saturates)
    if target.kind == "complex":
        part = target.math.removeprefix("Complex<").removesuffix(">")
        if source.kind == "complex":
            return f"{target.math}(({part}){text}.re, ({part}){text}.im)"
        return f"{target.math}(({part}){text}, ({part})0)"
    return _real(source.kind, source.math == "double", target, text, saturates)


def _real(kind: str, double: bool, target: Element, text: str, saturates: bool) -> str:
    if target.kind == "bool":
        return f"({text} != 0)"
    if target.narrow:
        function = "to_sat" if saturates else "to"
        return f"(float){function}<{target.stored}>({'' if double else '(float)'}{text})"
    saturates = kind == "float" and target.kind in ("int", "uint")
    if target.bits < 8:
        return _few_bits(target, f"to_sat<i32>({text})" if saturates else text)
    return f"{'to_sat' if saturates else 'to'}<{target.math}>({text})"


def _few_bits(target: Element, text: str) -> str:
    """Return an integer of less than a byte, extended to its byte."""
    away = 32 - target.bits
    if target.kind == "int":
        return f"(i8)((i32)((u32)({text}) << {away}) >> {away})"
    return f"(u8)((u32)({text}) & {(1 << target.bits) - 1}u)"


def bits_of(element: Element, text: str) -> str:
    """Return the bits of a number as an unsigned integer."""
    if element.narrow:
        return f"bits_as<u{8 * element.size}>(to<{element.stored}>({text}))"
    if element.bits < 8:
        return f"(u8)((u32)({text}) & {(1 << element.bits) - 1}u)"
    return f"bits_as<u{element.bits}>({text})"


def of_bits(element: Element, text: str) -> str:
    """Return the number that has the lowest bits of an unsigned integer."""
    if element.kind == "bool":
        return f"({text} != 0)"
    if element.narrow:
        lowest = f"({text}) & {2**element.bits - 1}u" if element.bits < 8 else text
        return f"(float)bits_as<{element.stored}>((u{8 * element.size})({lowest}))"
    if element.bits < 8:
        return _few_bits(element, text)
    return f"bits_as<{element.stored}>((u{element.bits})({text}))"
