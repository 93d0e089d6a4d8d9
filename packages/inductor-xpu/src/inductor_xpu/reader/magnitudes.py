"""How large an index expression and its terms can become: i32 computes it only where all of them fit."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from typing import Any

import sympy
from torch._inductor.virtualized import V
from torch.utils._sympy.functions import (
    BitwiseFn_bitwise_and,
    BitwiseFn_bitwise_or,
    BitwiseFn_bitwise_xor,
    FloorDiv,
    Identity,
    Max,
    Min,
    Mod,
    ModularIndexing,
    PowByNatural,
    PythonMod,
    RShift,
    Where,
)

from .symbols import is_uniform

# The largest number of each type of positions. Magnitudes of both signs count alike.
_LARGEST = {"i32": 2**31 - 1, "i64": 2**63 - 1}
_SHARE_SIGN_BITS = (BitwiseFn_bitwise_and, BitwiseFn_bitwise_or, BitwiseFn_bitwise_xor)


class _UnknownMagnitude(Exception):
    """An expression has terms whose size nothing limits."""


class Magnitudes:
    """``length`` gives the exclusive end of a loop or of an index that values give; None if it has none."""

    def __init__(self, length: Callable[[sympy.Symbol], Any]) -> None:
        self.length = length

    def fit(self, expr: Any, type: str) -> bool:
        """Return True if a type of positions holds an expression and the terms of which it is made.

        Sums and products may leave the type on the way: they wrap, and come back. Where only the hints of
        sizes say that all fit, that is guarded.
        """
        terms: list[Any] = []
        try:
            terms.append(self._of(expr, terms))
        except _UnknownMagnitude:
            return False
        return all(_holds(type, term) for term in terms)

    def fits_result(self, expr: Any, type: str) -> bool:
        """Return True if a type of positions holds the value of an expression, whatever its terms are."""
        try:
            return _holds(type, self._of(expr, []))
        except _UnknownMagnitude:
            return False

    def _of(self, expr: Any, terms: list[Any]) -> Any:
        """Return an upper bound of the absolute value; add those of what is no summand or factor of it."""
        if isinstance(expr, Identity):
            return self._of(expr.args[0], terms)
        if is_uniform(expr) and not has_signed_remainder(expr) and not _is_condition(expr):
            return _magnitude(expr)
        if isinstance(expr, sympy.Symbol):
            length = self.length(expr)
            if length is None:
                raise _UnknownMagnitude
            return sympy.sympify(length)
        of = [self._of(argument, terms) for argument in expr.args]
        if _is_condition(expr):
            # A relation compares numbers; others join conditions.
            terms += of
            return sympy.S.One
        if isinstance(expr, sympy.Add):
            return sympy.Add(*of)
        if isinstance(expr, sympy.Mul):
            return sympy.Mul(*of)
        if isinstance(expr, sympy.Pow | PowByNatural) and expr.args[1].is_Integer:
            return of[0] ** expr.args[1]
        terms += of
        if isinstance(expr, FloorDiv | RShift | sympy.Abs):
            return of[0]
        if isinstance(expr, Mod | PythonMod | sympy.Mod | ModularIndexing):
            return of[-1]
        if isinstance(expr, Min | Max | sympy.Min | sympy.Max):
            return _largest(of)
        if isinstance(expr, Where):
            return _largest(of[1:])
        if isinstance(expr, _SHARE_SIGN_BITS):
            return 2 * sympy.Add(*of) + 1
        raise _UnknownMagnitude


def _is_condition(expr: Any) -> bool:
    # Symbols of integers are booleans to sympy, too.
    return isinstance(expr, sympy.logic.boolalg.Boolean) and not isinstance(expr, sympy.Symbol)


def _holds(type: str, magnitude: Any) -> bool:
    # Those of the host's integers are those of an i64.
    is_known = type == "i64" and not sympy.sympify(magnitude).is_number
    return is_known or is_at_most(magnitude, _LARGEST[type])


def has_signed_remainder(expr: sympy.Basic) -> bool:
    """Return True if a remainder, which has the dividend's sign as in C, may be one of a negative number."""
    return any(not is_nonnegative(each.args[0]) for each in expr.atoms(ModularIndexing))


def is_nonnegative(expr: sympy.Basic) -> bool:
    """Return True if an expression is not negative, whatever integers the host gives."""
    values = {
        symbol: sympy.Dummy(integer=True, nonnegative=_is_symbol_nonnegative(symbol) or None)
        for symbol in expr.free_symbols
    }
    return bool(getattr(expr.xreplace(values), "is_nonnegative", False))


def _is_symbol_nonnegative(symbol: sympy.Basic) -> bool:
    # Loops begin at 0, and indices that values give are wrapped.
    if not is_uniform(symbol) or symbol.is_nonnegative:
        return True
    return V.graph.sizevars.statically_known_geq(_original(symbol), 0)


def is_at_most(expr: Any, limit: int) -> bool:
    """Return True if an expression of the host's integers is no larger; guard it where a hint says so."""
    expr = sympy.sympify(expr)
    if expr.is_number:
        return bool(expr <= limit)
    expr, sizes = _original(expr), V.graph.sizevars
    if sizes.statically_known_leq(expr, limit):
        return True
    # Code that is compiled ahead of time has no guards.
    if V.aot_compilation or not sizes.shape_env.has_guarding_hint(expr):
        return False
    if sizes.guarding_hint_or_throw(expr) > limit:
        return False
    sizes.check_leq(expr, limit)
    return True


def _original(expr: sympy.Basic) -> Any:
    """Return an expression without the names of what the wrapper computes beforehand."""
    return expr.xreplace(V.graph.sizevars.inv_precomputed_replacements)


def _magnitude(expr: Any) -> Any:
    expr = sympy.sympify(expr)
    if expr.is_number:
        return abs(expr)
    return expr if is_nonnegative(expr) else Max(expr, -expr)


def _largest(magnitudes: Iterable[Any]) -> Any:
    """Return what none of the magnitudes exceeds."""
    return reduce(lambda a, b: max(a, b) if a.is_number and b.is_number else a + b, magnitudes)
