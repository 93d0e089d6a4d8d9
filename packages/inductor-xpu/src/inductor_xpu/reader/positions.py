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
from xpu_runtime.codegen.statements import Operand, Term

from .loops import divided_loop
from .symbols import Symbols, is_uniform, is_uniform_symbol

_CONDITIONS = (sympy.core.relational.Relational, sympy.And, sympy.Or, sympy.Not)


class Positions:
    """Translates index expressions; ``builder`` and ``type`` are called for those that are not affine."""

    def __init__(self, symbols: Symbols, builder: Callable[[], Builder], type: Callable[[], str]):
        self.symbols, self.builder, self.type = symbols, builder, type

    def affine(self, index: sympy.Expr) -> Affine:
        """Return the position of an index. Its counters are names of Inductor's loops and of values."""
        constant, terms = 0, {}
        grouped: dict[str, list[sympy.Expr]] = {}
        for summand in sympy.Add.make_args(sympy.expand(index)):
            factors = sympy.Mul.make_args(summand)
            uniform = sympy.Mul(*(f for f in factors if is_uniform(f)))
            varying = sympy.Mul(*(f for f in factors if not is_uniform(f)))
            if varying == 1 and uniform.is_number:
                constant += int(uniform)
                continue
            name = "" if varying == 1 else self.name(varying)
            grouped.setdefault(name, []).append(uniform)
        for name, factors in grouped.items():
            factor = self.symbols.size(sympy.Add(*factors))
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
        return self.builder().define(self.type(), self.operand(varying))

    def operand(self, expr: sympy.Expr) -> Operand:
        """Return an index expression as a number."""
        if isinstance(expr, Identity):
            return self.operand(expr.args[0])
        if isinstance(expr, (sympy.Integer, int)):
            return str(int(expr))
        if isinstance(expr, sympy.logic.boolalg.BooleanAtom):
            return "true" if expr else "false"
        if is_uniform(expr) and not isinstance(expr, _CONDITIONS):
            size = self.symbols.size(expr)
            return str(size) if isinstance(size, int) else size.name
        if isinstance(expr, (sympy.Symbol, sympy.Add)):
            return self.affine(expr)
        if isinstance(expr, sympy.Mul):
            uniform, varying = expr.as_independent(*self._varying(expr))
            if uniform != 1:
                return self.affine(expr)
            return _joined("({0}) * ({1})", [self.operand(factor) for factor in varying.args])
        if isinstance(expr, ModularIndexing):
            base, divisor, size = expr.args
            return self.operand(Mod(FloorDiv(base, divisor), size))
        if isinstance(expr, FloorDiv):
            quotient = divided_loop(*expr.args)
            if quotient is not None:
                return self.affine(quotient)
        if isinstance(expr, sympy.Pow | PowByNatural) and expr.args[1].is_Integer:
            base, exponent = expr.args
            if exponent > 0:
                return _joined("({0}) * ({1})", [self.operand(base)] * int(exponent))
        table = _TEMPLATES if _is_nonnegative(expr.args[0]) else _SIGNED + _TEMPLATES
        template = next((text for type, text in table if isinstance(expr, type)), None)
        if template is None:
            raise NotImplementedError(f"an index with {type(expr).__name__}: {expr}")
        template = template.replace("{T}", self.type())
        V.kernel.headers["integer"] = None
        arguments = [self.operand(argument) for argument in expr.args]
        return (
            _joined(template, arguments)
            if "{2}" not in template
            else Term(template, tuple(arguments))
        )

    @staticmethod
    def _varying(expr: sympy.Expr) -> list[Any]:
        return [symbol for symbol in expr.free_symbols if not is_uniform_symbol(symbol)]


def _joined(template: str, arguments: list[Operand]) -> Operand:
    """Fold a template of two arguments over any number of them."""
    if "{1}" not in template:
        return Term(template, tuple(arguments))
    result = arguments[0]
    for argument in arguments[1:]:
        result = Term(template, (result, argument))
    return result


def _is_nonnegative(expr: sympy.Basic) -> bool:
    """Return True if an expression is not negative where its symbols are not."""
    values = {s: sympy.Dummy(integer=True, nonnegative=True) for s in expr.free_symbols}
    return bool(getattr(expr.xreplace(values), "is_nonnegative", False))


# Of a first argument that may be negative.
_SIGNED: tuple[tuple[Any, str], ...] = (
    (FloorDiv, "floor_div<{T}>({0}, {1})"),
    (PythonMod, "remainder<{T}>({0}, {1})"),
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
