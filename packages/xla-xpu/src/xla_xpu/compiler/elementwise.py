"""The table of elementwise operations: a C++ template per operation, over the device library.

A template holds ``{0}``, ``{1}``, ... for the operands, ``{T}`` for the type of the result, ``{F}``
for the first operand's, ``{S}`` for its signed version and ``{U}`` for the unsigned type in which its
integers wrap.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from xpu_runtime.codegen.conversions import bits_of, convert, of_bits
from xpu_runtime.codegen.functions import Function, find_functions
from xpu_runtime.codegen.statements import Operand, Term

from .failures import Unsupported
from .graph import Node
from .types import ELEMENTS, Element


@dataclass(frozen=True)
class Rule:
    """Templates by the kind of the first operand; ``any`` applies to the other kinds."""

    any: str = ""
    kinds: dict[str, str] = field(default_factory=dict)


def _rule(any: str = "", **kinds: str) -> Rule:
    if "int" in kinds:
        kinds.setdefault("uint", kinds["int"])
    return Rule(any, kinds)


def _wrapping(operator: str, logical: str = "") -> Rule:
    more = {"bool": logical} if logical else {}
    plain = f"{{0}} {operator} {{1}}"
    return _rule(
        float=plain, complex=plain, int=f"({{T}})(({{U}}){{0}} {operator} ({{U}}){{1}})", **more
    )


def _bitwise(operator: str) -> Rule:
    return _rule(int=f"({{T}})({{0}} {operator} {{1}})", bool=f"(bool)({{0}} {operator} {{1}})")


def _call(name: str, operands: int = 1) -> Rule:
    return _rule(f"{name}({', '.join(f'{{{i}}}' for i in range(operands))})")


def _float(name: str, operands: int = 1) -> Rule:
    """Return the rule of a function of floats and complex numbers."""
    text = _call(name, operands).any
    return _rule(float=text, complex=text)


def _nan_without_angle(name: str) -> Rule:
    """Return the rule of a function that is NaN where XLA's is: where the imaginary part is not finite.

    The device library follows C99, whose results are infinite or real there.
    """
    nothing = "{T}({0}.im - {0}.im, {0}.im - {0}.im)"
    return _rule(
        float=f"{name}({{0}})", complex=f"select(isfinite({{0}}.im), {name}({{0}}), {nothing})"
    )


def _function_of(op: str) -> Function:
    """Return the function of the device library that a composite is."""
    (function,) = find_functions("stablehlo", op.removeprefix("composite@"))
    return function


TABLE: dict[str, Rule] = {
    "add": _wrapping("+", "{0} || {1}"),
    "subtract": _wrapping("-", "{0} != {1}"),
    "multiply": _wrapping("*", "{0} && {1}"),
    "divide": _rule(float="{0} / {1}", complex="{0} / {1}", int="trunc_div({0}, {1})"),
    "remainder": _rule(float="fmod({0}, {1})", int="fmod({0}, {1})"),
    "power": _rule("pow({0}, {1})"),
    "maximum": _rule(
        float="maximum({0}, {1})",
        int="maximum({0}, {1})",
        bool="{0} || {1}",
        complex="{0}.re > {1}.re || ({0}.re == {1}.re && {0}.im > {1}.im) ? {0} : {1}",
    ),
    "minimum": _rule(
        float="minimum({0}, {1})",
        int="minimum({0}, {1})",
        bool="{0} && {1}",
        complex="{0}.re < {1}.re || ({0}.re == {1}.re && {0}.im < {1}.im) ? {0} : {1}",
    ),
    "atan2": _rule(float="atan2({0}, {1})"),
    "and": _bitwise("&"),
    "or": _bitwise("|"),
    "xor": _bitwise("^"),
    "not": _rule(int="({T})~{0}", bool="!{0}"),
    "shift_left": _call("shift_left", 2),
    "shift_right_arithmetic": _rule(
        int="shift_right({0}, {1})", uint="({T})shift_right(({S}){0}, ({S}){1})"
    ),
    "shift_right_logical": _call("shift_right_logical", 2),
    "select": _rule("select({0}, {1}, {2})"),
    "clamp": _rule(
        float="clamp({1}, {0}, {2})",
        int="clamp({1}, {0}, {2})",
        bool="({1} || {0}) && {2}",
        complex="{1}.re <= {0}.re ? {0} : {1}.re > {2}.re ? {2} : {1}",
    ),
    "abs": _rule(int="abs({0})", uint="{0}", float="abs({0})", complex="abs({0})"),
    "negate": _rule(float="-{0}", complex="-{0}", int="neg({0})"),
    "sign": _rule(float="sign_nan({0})", int="sign({0})", complex="sgn({0})"),
    "popcnt": _call("popcount"),
    "count_leading_zeros": _call("clz"),
    "is_finite": _call("isfinite"),
    "floor": _call("floor"),
    "ceil": _call("ceil"),
    "round_nearest_afz": _call("round_away"),
    "round_nearest_even": _call("round_even"),
    "sqrt": _float("sqrt"),
    "rsqrt": _float("rsqrt"),
    "cbrt": _rule(float="cbrt({0})"),
    "exponential": _float("exp"),
    "exponential_minus_one": _float("expm1"),
    "log": _float("log"),
    "log_plus_one": _float("log1p"),
    "logistic": _float("logistic"),
    "tanh": _float("tanh"),
    "sine": _float("sin"),
    "cosine": _float("cos"),
    "tan": _float("tan"),
    "real": _rule(float="{0}", complex="{0}.re"),
    "imag": _rule(float="({T})0", complex="{0}.im"),
    "complex": _rule("{T}({0}, {1})"),
    "composite@chlo.erf": _rule(float="erf({0})"),
    "composite@chlo.asin": _float("asin"),
    "composite@chlo.acos": _float("acos"),
    "composite@chlo.sinh": _nan_without_angle("sinh"),
    "composite@chlo.cosh": _nan_without_angle("cosh"),
    "composite@chlo.asinh": _float("asinh"),
    "composite@chlo.acosh": _float("acosh"),
    "composite@chlo.atanh": _float("atanh"),
    "composite@chlo.mulhi": _rule(int="mul_high({0}, {1})"),
}

# What ``rules.special_functions`` makes composites of, by their names in StableHLO's dialect of functions.
_SPECIAL_FUNCTIONS = {
    "composite@chlo.bessel_i0e",
    "composite@chlo.bessel_i1e",
    "composite@chlo.erf_inv",
    "composite@chlo.erfc",
    "composite@chlo.lgamma",
}
TABLE |= {op: _rule(float=_function_of(op).template) for op in sorted(_SPECIAL_FUNCTIONS)}

# Operations that need more than a template.
SPECIAL = ("compare", "convert", "bitcast_convert", "reduce_precision")

OPERATIONS = frozenset([*TABLE, *SPECIAL])

_HEADERS = (
    "math",
    "exp",
    "trig",
    "hyperbolic",
    "erf",
    "integer",
    "wide",
    "activation",
    "sort_key",
    "precision",
)
_COMPLEX_HEADERS = ("complex", "complex_math")
# Headers that only kernels with their functions or elements include.
_RARE_HEADERS = ("minifloat", "gamma", "modified_bessel")


def headers_of(rare: Collection[str] = ()) -> list[str]:
    """Return the headers of the device library that templates need, with those of ``rare`` headers."""
    complex = _COMPLEX_HEADERS if "complex" in rare else ()
    return [*_HEADERS, *complex, *(header for header in _RARE_HEADERS if header in rare)]


def header_of(node: Node) -> str:
    """Return the header of an operation's function if others do without it, or an empty text."""
    return _function_of(node.op).header if node.op in _SPECIAL_FUNCTIONS else ""


def expression(node: Node, arguments: Sequence[Operand]) -> Operand:
    """Return the expression of an operation on one element."""
    first = node.inputs[1 if node.op == "select" else 0].type.element
    result = node.output.type.element
    given = tuple(arguments)
    match node.op:
        case "compare":
            return _compare(node.attributes, first, *given)
        case "convert":
            return given[0] if first.name == result.name else Term(_converted(first, result), given)
        case "bitcast_convert":
            same = first == result
            return given[0] if same else Term(of_bits(result, bits_of(first, "{0}")), given)
        case "reduce_precision":
            return Term(_reduced(node.attributes, first), given)
    text = _template(node.op, first.name, result.name)
    if not text:
        raise Unsupported(f"{node.op} of {first.name} is not supported on xpu")
    return Term(text, given)


@cache
def _template(op: str, first: str, result: str) -> str:
    """Return the template of an operation of the table for elements of these names; "" if it has none."""
    rule, element = TABLE[op], ELEMENTS[first]
    text = rule.kinds.get(element.kind, rule.any)
    names = {"T": ELEMENTS[result].math, "F": element.math, "S": f"i{element.bits}"}
    return text.format("{0}", "{1}", "{2}", U=wrapping_type(element), **names)


@cache
def _converted(source: Element, target: Element) -> str:
    return convert(source, target, "{0}")


def wrapping_type(element: Element) -> str:
    """Return the unsigned type in which integers of this type wrap without C++'s promotion to int."""
    return "u64" if element.size == 8 else "u32"


def _compare(attributes: dict[str, Any], element: Element, a: Operand, b: Operand) -> Term:
    direction = attributes["comparison_direction"]
    operator = {"EQ": "==", "NE": "!=", "LT": "<", "LE": "<=", "GT": ">", "GE": ">="}[direction]
    if attributes.get("compare_type") == "TOTALORDER" and element.kind == "float":
        return Term(f"total_order({{0}}) {operator} total_order({{1}})", (a, b))
    if element.kind == "complex" and direction in ("LT", "LE", "GT", "GE"):
        strict = operator[0]
        parts = (
            f"{{0}}.re {strict} {{1}}.re || ({{0}}.re == {{1}}.re && {{0}}.im {operator} {{1}}.im)"
        )
        return Term(f"({parts})", (a, b))
    if operator in ("==", "!=") and (a in _BELOW_INFINITY or b in _BELOW_INFINITY):
        number, infinity = (a, b) if b in _BELOW_INFINITY else (b, a)
        above = f"{{0}} > {_BELOW_INFINITY[infinity]}"
        return Term(above if operator == "==" else f"!({above})", (number,))
    return Term(f"{{0}} {operator} {{1}}", (a, b))


# The infinities as literals, and the largest numbers below them: x == infinity is written x > largest. Beside
# x == 0 the former becomes one test of the float's class, which Intel's compiler for GPUs cannot build.
_BELOW_INFINITY: dict[Operand, str] = {
    "bits_as<float>(0x7f800000u)": "0x1.fffffep+127f",
    "bits_as<double>(0x7ff0000000000000ul)": "0x1.fffffffffffffp+1023",
}


def _reduced(attributes: dict[str, Any], element: Element) -> str:
    exponent, mantissa = attributes["exponent_bits"], attributes["mantissa_bits"]
    known = {(5, 10): "half", (8, 7): "bf16", (4, 3): "f8e4m3", (5, 2): "f8e5m2"}
    if (exponent, mantissa) in known and element.math == "float":
        return f"(float)to<{known[exponent, mantissa]}>({{0}})"
    return f"reduce_precision<{exponent}, {mantissa}>({{0}})"
