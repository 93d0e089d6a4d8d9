"""Inductor's operators as templates over the device library: most are lines of functions.toml."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import sympy
import torch
from torch._inductor import config
from torch._inductor.codegen.common import CSEVariable, OpDecompositions
from torch._inductor.dtype_propagation import DtypePropagationOpsHandler, promote_types
from torch._inductor.ops_handler import DefaultHandler
from torch._inductor.utils import upcast_compute_type
from torch._inductor.virtualized import OpsValue, V
from xpu_runtime.codegen.conversions import bits_of, convert, of_bits
from xpu_runtime.codegen.elements import Element, element
from xpu_runtime.codegen.functions import find_functions
from xpu_runtime.codegen.literals import literal
from xpu_runtime.codegen.statements import Operand, Term
from xpu_runtime.codegen.vocabulary_error import VocabularyError

from .symbols import is_uniform
from .values import DeviceExpression, Expression, element_of, term

# Names in the table of functions, where Inductor has another than ATen.
ATEN_NAMES = {
    "and_": "bitwise_and",
    "or_": "bitwise_or",
    "xor": "bitwise_xor",
    "lshift": "bitwise_left_shift",
    "rshift": "bitwise_right_shift",
    "floordiv": "floor_divide",
    "truncdiv": "div.trunc",
    "truediv": "div",
    "int_truediv": "div",
    "div_rn": "div",
    "mul_rn": "mul",
    "mod": "fmod",
    "gammainc": "igamma",
    "gammaincc": "igammac",
    "modified_bessel_i0": "i0",
    "modified_bessel_i1": "i1",
}

# Operators that wrap: signed overflow is not defined in C++.
_WRAPPING = {"add": "+", "sub": "-", "mul": "*", "mul_rn": "*"}
_OF_BOOLS = {"add": "{0} || {1}", "sub": "{0} != {1}", "mul": "{0} && {1}", "mul_rn": "{0} && {1}"}
_COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


@cache
def _function(name: str, kind: str) -> tuple[str, str, str] | None:
    """Return the template, header and rule of an operator for elements of a kind; None if there is none."""
    aten = ATEN_NAMES.get(name, name)
    for known in (aten, f"special_{aten}"):
        try:
            found = find_functions("aten", known)
        except VocabularyError:
            continue
        integral = kind in ("int", "uint")
        for function in sorted(found, key=lambda f: (f.rule == "integral") != integral):
            if function.rule == "integral" and not integral:
                continue
            if kind == "complex" and not function.complex:
                continue
            return function.template, function.header_for(kind), function.rule
    return None


def unwrap(value: Any) -> Any:
    """Return what Inductor's operators take, without the wrapper of overloaded operators."""
    return value.value if isinstance(value, OpsValue) else value


def math_element(dtype: torch.dtype) -> Element:
    """Return the element type in which kernels compute values of a dtype."""
    return element_of(upcast_compute_type(dtype))


def converted(value: Any, dtype: torch.dtype) -> Operand:
    """Return an argument of an operator in the type in which kernels compute a dtype."""
    value = unwrap(value)
    target = math_element(dtype)
    if not isinstance(value, CSEVariable):
        return literal(value, target)
    if value.dtype == dtype or element_of(value.dtype).math == target.math:
        return value.name
    return Term(convert(math_element(value.dtype), target, "{0}"), (value.name,))


def _divided(x: Any, y: Any) -> Expression:
    dtype = promote_types([x, y])
    if not dtype.is_floating_point and not dtype.is_complex:
        dtype = torch.float32
    return term("{0} / {1}", converted(x, dtype), converted(y, dtype))


def _rounded(function: str, x: Any, dtype: torch.dtype) -> Expression:
    value = unwrap(x)
    V.kernel.headers["math"] = None
    text = convert(math_element(value.dtype), element_of(dtype), f"{function}({{0}})")
    return term(text, value.name)


class Operators(DefaultHandler):
    """Makes an expression of each operator and its arguments."""

    def _default(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        rule = getattr(DtypePropagationOpsHandler(), name)
        dtype = rule(*args, **kwargs)
        inputs = promote_types(args)
        operands = inputs if dtype == torch.bool else dtype
        kind = math_element(operands).kind
        values = [converted(value, operands) for value in args]
        template = _template(name, kind, math_element(operands))
        if template is not None:
            return term(template, *values)
        decomposed = getattr(OpDecompositions, name, None)
        if decomposed is None:
            raise NotImplementedError(f"operator {name} of {operands}")
        return unwrap(decomposed(*args, **kwargs))

    @staticmethod
    def constant(value: Any, dtype: torch.dtype) -> Expression:
        return Expression(literal(value, math_element(dtype)))

    @staticmethod
    def to_dtype(
        x: Any, dtype: torch.dtype, src_dtype: Any = None, use_compute_types: bool = True
    ) -> Any:
        x = unwrap(x)
        source, target = math_element(x.dtype), element_of(dtype)
        rounded = (
            not use_compute_types
            or config.emulate_precision_casts
            or V.kernel.compares_for_equality
        )
        if dtype in (torch.float16, torch.bfloat16) and not rounded:
            target = math_element(dtype)
        if source == target:
            return Expression(x.name)
        V.kernel.add_header_of(dtype)
        # As in eager mode; other narrow floats have infinity there.
        saturates = dtype == torch.float8_e4m3fn
        return term(convert(source, target, "{0}", saturates), x.name)

    @staticmethod
    def to_dtype_bitcast(x: Any, dtype: torch.dtype, src_dtype: torch.dtype) -> Expression:
        for each in (dtype, src_dtype):
            V.kernel.add_header_of(each)
        bits = bits_of(element_of(src_dtype), "{0}")
        return term(of_bits(element_of(dtype), bits), unwrap(x).name)

    @staticmethod
    def index_expr(expr: sympy.Expr, dtype: torch.dtype) -> Expression:
        return _of_index(expr, DtypePropagationOpsHandler.index_expr(expr, dtype))

    @staticmethod
    def value_expr(expr: sympy.Expr, dtype: torch.dtype) -> Expression:
        return _of_index(expr, dtype)

    @staticmethod
    def masked(mask: Any, body: Any, other: Any) -> CSEVariable:
        with V.kernel.masked(mask.name):
            value = unwrap(body())
        chosen = term("({0} ? {1} : {2})", mask.name, value.name, converted(other, value.dtype))
        return V.kernel.cse.generate(None, chosen, dtype=value.dtype)

    @staticmethod
    def where(condition: Any, x: Any, y: Any) -> Expression:
        dtype = promote_types([x, y])
        choice = converted(condition, torch.bool)
        return term("({0} ? {1} : {2})", choice, converted(x, dtype), converted(y, dtype))

    truediv = div_rn = int_truediv = staticmethod(_divided)
    floor_to_int = staticmethod(partial(_rounded, "floor"))
    ceil_to_int = staticmethod(partial(_rounded, "ceil"))
    trunc_to_int = staticmethod(partial(_rounded, "trunc"))
    round_to_int = staticmethod(partial(_rounded, "round_even"))

    @staticmethod
    def relu(x: Any) -> Any:
        # The function of the library is one of floats.
        return unwrap(OpDecompositions.relu(x))

    @staticmethod
    def ldexp(x: Any, n: Any) -> Expression:
        return term("__spirv_ocl_ldexp({0}, {1})", unwrap(x).name, converted(n, torch.int32))

    @staticmethod
    def frexp(x: Any) -> tuple[CSEVariable, CSEVariable]:
        x, cse = unwrap(x), V.kernel.cse
        V.kernel.headers["math"] = None
        exponent = term("({0} != 0 && isfinite({0}) ? (i32)logb({0}) + 1 : 0)", x.name)
        exponent = cse.generate(None, exponent, dtype=torch.int32)
        mantissa = term("__spirv_ocl_ldexp({0}, -{1})", x.name, exponent.name)
        return cse.generate(None, mantissa, dtype=x.dtype), exponent

    @staticmethod
    def load_seed(name: str, offset: int) -> Expression:
        return Expression(V.kernel.load(name, sympy.Integer(offset)).name)

    @staticmethod
    def rand(seed: Any, offset: Any) -> Expression:
        return _random("draw_uniform<float>({0}, {1}, 0)", seed, offset)

    @staticmethod
    def randn(seed: Any, offset: Any) -> Expression:
        return _random("draw_normal<float>({0}, {1}, 0)", seed, offset)

    @staticmethod
    def randint64(seed: Any, offset: Any, low: Any, high: Any) -> Expression:
        number = "draw_integer({0}, {1}, 0, (u64)({3} - {2}))"
        return _random(f"({{2}} + (i64){number})", seed, offset, low, high)

    @staticmethod
    def inline_asm_elementwise(*inputs: Any, asm: str, **named: Any) -> Expression:
        if not isinstance(asm, DeviceExpression):
            raise NotImplementedError("assembler in a graph with tensors on xpu")
        V.kernel.headers["draw"] = None
        return term(asm, *(unwrap(value).name for value in inputs))


def _of_index(expr: sympy.Expr, dtype: torch.dtype) -> Expression:
    kernel, target = V.kernel, math_element(dtype)
    expr = kernel.prepare_indexing(expr)
    if isinstance(expr, sympy.Expr) and expr.is_integer is not True and is_uniform(expr):
        return Expression(kernel.symbols.scalar(expr, target))
    type, value = kernel.positions.value(expr)
    return term(convert(element(type), target, f"({type})({{0}})"), value)


def _random(template: str, *values: Any) -> Expression:
    """Return the number of the seed {0} and the block {1}."""
    V.kernel.headers["draw"] = None
    return term(template, *(converted(value, torch.int64) for value in values))


def _template(name: str, kind: str, element: Element) -> str | None:
    """Return the template of an operator whose operands all have the element type."""
    if name in _WRAPPING:
        if kind == "bool":
            return _OF_BOOLS[name]
        if kind in ("int", "uint"):
            unsigned = f"u{8 * element.size}"
            return f"({element.math})(({unsigned}){{0}} {_WRAPPING[name]} ({unsigned}){{1}})"
        return f"{{0}} {_WRAPPING[name]} {{1}}"
    if name in _COMPARISONS and kind != "complex":
        return f"({{0}} {_COMPARISONS[name]} {{1}})"
    if name in _TEMPLATES:
        return _TEMPLATES[name]
    if name == "signbit" and kind != "float":
        return "({0} < 0)" if kind == "int" else "false"
    if kind == "bool" and name in ("maximum", "minimum"):
        return "({0} || {1})" if name == "maximum" else "({0} && {1})"
    found = _function(name, kind)
    if found is None:
        return None
    template, header, rule = found
    V.kernel.headers[header] = None
    if rule == "float" and kind not in ("float", "complex"):
        return None
    if kind == "bool" and rule == "arithmetic" and "{1}" not in template:
        return "{0}"  # abs, sign, square and roundings give the bool itself
    return template


_TEMPLATES = {
    "logical_and": "({0} && {1})",
    "logical_or": "({0} || {1})",
    "logical_xor": "({0} != {1})",
    "logical_not": "!{0}",
    "identity": "{0}",
    "square": "{0} * {0}",
}
