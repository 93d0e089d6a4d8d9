"""Positions in arrays and other index expressions, from Inductor's symbols."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy
from torch._inductor.virtualized import V
from torch.utils._sympy.functions import (
    BitwiseFn_bitwise_and,
    BitwiseFn_bitwise_or,
    BitwiseFn_bitwise_xor,
    FloorDiv,
    Identity,
    LShift,
    Max,
    Min,
    Mod,
    ModularIndexing,
    PowByNatural,
    PythonMod,
    RShift,
    Where,
)
from xpu_runtime.codegen.affine import Affine
from xpu_runtime.codegen.builder import Builder
from xpu_runtime.codegen.elements import element
from xpu_runtime.codegen.literals import literal
from xpu_runtime.codegen.statements import Operand, Term

from .loops import divided_loop
from .magnitudes import Magnitudes, has_signed_remainder, is_nonnegative
from .symbols import Symbols, is_uniform, is_uniform_symbol

_I64 = element("i64")

_CONDITIONS = (sympy.core.relational.Relational, sympy.And, sympy.Or, sympy.Not)


class Positions:
    """Translates index expressions; ``builder`` and ``type`` are called for those that are not affine.

    ``type`` is the type of positions. A value, and what a position is computed from, is an i64 where that
    type does not hold all of its terms.
    """

    def __init__(
        self,
        symbols: Symbols,
        builder: Callable[[], Builder],
        type: Callable[[], str],
        magnitudes: Magnitudes,
    ) -> None:
        self.symbols, self.builder, self.type, self.magnitudes = symbols, builder, type, magnitudes

    def affine(self, index: sympy.Expr) -> Affine:
        """Return the position of an index. Its counters are names of Inductor's loops and of values."""
        constant, terms = 0, {}
        grouped: dict[str, list[sympy.Expr]] = {}
        for summand in sympy.Add.make_args(sympy.expand(index)):
            factors = sympy.Mul.make_args(summand)
            uniform = sympy.Mul(*(f for f in factors if _is_of_host(f)))
            varying = sympy.Mul(*(f for f in factors if not _is_of_host(f)))
            if varying == 1 and uniform.is_number:
                constant += int(uniform)
                continue
            name = "" if varying == 1 else self.name(varying)
            grouped.setdefault(name, []).append(uniform)
        for name, factors in grouped.items():
            total = sympy.Add(*factors)
            if name == "" and constant and not self.magnitudes.fit(total, self.type()):
                # The two may exceed the type of positions while their sum, a position, does not.
                total, constant = total + constant, 0
            factor = self.symbols.size(total)
            if name == "":
                if isinstance(factor, int):
                    constant += factor
                else:
                    terms[factor.name] = 1
            elif factor != 0:
                terms[name] = factor
        return Affine(constant, tuple(sorted(terms.items())))

    def name(self, varying: sympy.Expr) -> str:
        """Return the name of a factor: a loop, a value, or what is defined from them here."""
        if isinstance(varying, sympy.Symbol):
            return varying.name
        return self.builder().define(*self.integer(varying))

    def integer(self, expr: sympy.Expr) -> tuple[str, Operand]:
        """Return an index expression as a number, before it its type: that of positions, or i64."""
        type = self.type()
        if self.magnitudes.fit(expr, type):
            return type, self.operand(expr)
        wide = self.wide(expr)
        if type != "i64" and self.magnitudes.fits_result(expr, type):
            return type, Term(f"({type})({{0}})", (wide,))
        return "i64", wide

    def value(self, expr: sympy.Expr) -> tuple[str, Operand]:
        """Return an index expression as a value that is no position, before it its type."""
        if _is_of_host(expr) and not expr.is_number:
            return "i64", self.wide(expr)
        return self.integer(expr)

    def operand(self, expr: sympy.Expr) -> Operand:
        """Return an index expression, of which the type of positions holds all terms, as a number."""
        if isinstance(expr, Identity):
            return self.operand(expr.args[0])
        if isinstance(expr, (sympy.Integer, int)):
            return str(int(expr))
        if isinstance(expr, sympy.logic.boolalg.BooleanAtom):
            return "true" if expr else "false"
        if _is_of_host(expr):
            size = self.symbols.size(expr)
            return str(size) if isinstance(size, int) else size.name
        if isinstance(expr, (sympy.Symbol, sympy.Add)):
            return self.affine(expr)
        if isinstance(expr, sympy.Mul):
            uniform, _ = expr.as_independent(*self._varying(expr))
            if uniform != 1:
                return self.affine(expr)
        return _computed(expr, self.operand, self.type())

    def wide(self, expr: sympy.Expr) -> Operand:
        """Return an index expression as an i64, as are all of its terms."""
        if isinstance(expr, Identity):
            return self.wide(expr.args[0])
        if isinstance(expr, (sympy.Integer, int)):
            return literal(int(expr), _I64)
        if isinstance(expr, sympy.logic.boolalg.BooleanAtom):
            return "true" if expr else "false"
        if _is_of_host(expr):
            size = self.symbols.size(expr)
            return literal(size, _I64) if isinstance(size, int) else size.argument
        if isinstance(expr, sympy.Symbol):
            return Term("(i64)({0})", (Affine.of(expr.name),))
        return _computed(expr, self.wide, "i64")

    @staticmethod
    def _varying(expr: sympy.Expr) -> list[Any]:
        return [symbol for symbol in expr.free_symbols if not is_uniform_symbol(symbol)]


def _is_of_host(expr: Any) -> bool:
    """Return True if the launch computes an expression."""
    return is_uniform(expr) and not isinstance(expr, _CONDITIONS) and not has_signed_remainder(expr)


def _computed(expr: Any, operand: Callable[[Any], Operand], type: str) -> Operand:
    """Return an operation on the operands of an expression's arguments."""
    if isinstance(expr, FloorDiv):
        quotient = divided_loop(*expr.args)
        if quotient is not None:
            return operand(quotient)
    if isinstance(expr, ModularIndexing):
        base, divisor, size = expr.args
        quotient = FloorDiv(base, divisor)
        if is_nonnegative(base):
            return operand(Mod(quotient, size))
        # The remainder has the sign of the quotient, as in C.
        return Term("(({0}) % ({1}))", (operand(quotient), operand(size)))
    if isinstance(expr, sympy.Add | sympy.Mul):
        text = "({0}) + ({1})" if isinstance(expr, sympy.Add) else "({0}) * ({1})"
        return _joined(text, [operand(argument) for argument in expr.args])
    if isinstance(expr, sympy.Pow | PowByNatural) and expr.args[1].is_Integer:
        base, exponent = expr.args
        if exponent > 0:
            return _joined("({0}) * ({1})", [operand(base)] * int(exponent))
    nonnegative = all(is_nonnegative(argument) for argument in expr.args[:2])
    table = _TEMPLATES if nonnegative else _SIGNED + _TEMPLATES
    template = next((text for type_, text in table if isinstance(expr, type_)), None)
    if template is None:
        raise NotImplementedError(f"an index with {expr.func.__name__}: {expr}")
    template = template.replace("{T}", type)
    V.kernel.headers["integer"] = None
    arguments = [operand(argument) for argument in expr.args]
    if "{2}" in template:
        return Term(template, tuple(arguments))
    return _joined(template, arguments)


def _joined(template: str, arguments: list[Operand]) -> Operand:
    """Fold a template of two arguments over any number of them."""
    if "{1}" not in template:
        return Term(template, tuple(arguments))
    result = arguments[0]
    for argument in arguments[1:]:
        result = Term(template, (result, argument))
    return result


# Of arguments that may be negative.
_SIGNED: tuple[tuple[Any, str], ...] = (
    (FloorDiv, "floor_div<{T}>({0}, {1})"),
    ((PythonMod, sympy.Mod), "remainder<{T}>({0}, {1})"),
)
_TEMPLATES: tuple[tuple[Any, str], ...] = (
    (FloorDiv, "(({0}) / ({1}))"),
    ((Mod, PythonMod, sympy.Mod), "(({0}) % ({1}))"),
    ((Min, sympy.Min), "min_of<{T}>({0}, {1})"),
    ((Max, sympy.Max), "max_of<{T}>({0}, {1})"),
    (sympy.Abs, "max_of<{T}>({0}, -({0}))"),
    (LShift, "(({0}) << ({1}))"),
    (RShift, "(({0}) >> ({1}))"),
    (BitwiseFn_bitwise_and, "(({0}) & ({1}))"),
    (BitwiseFn_bitwise_or, "(({0}) | ({1}))"),
    (BitwiseFn_bitwise_xor, "(({0}) ^ ({1}))"),
    (Where, "(({0}) ? ({1}) : ({2}))"),
    (sympy.Eq, "(({0}) == ({1}))"),
    (sympy.Ne, "(({0}) != ({1}))"),
    (sympy.Lt, "(({0}) < ({1}))"),
    (sympy.Le, "(({0}) <= ({1}))"),
    (sympy.Gt, "(({0}) > ({1}))"),
    (sympy.Ge, "(({0}) >= ({1}))"),
    (sympy.And, "(({0}) && ({1}))"),
    (sympy.Or, "(({0}) || ({1}))"),
    (sympy.Not, "(!({0}))"),
)
