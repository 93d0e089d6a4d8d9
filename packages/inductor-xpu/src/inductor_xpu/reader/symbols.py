"""What a launch computes and gives to a kernel: sizes, and scalars as the bits of an integer."""

from __future__ import annotations

import sympy
import torch
from torch._inductor.virtualized import V
from torch.utils._sympy.symbol import SymT, symbol_is_type
from xpu_runtime.codegen.elements import Element
from xpu_runtime.codegen.literals import literal
from xpu_runtime.codegen.sizes import Symbol
from xpu_runtime.codegen.statements import Operand, Term

_UNIFORM = (
    *(SymT.SIZE, SymT.PRECOMPUTED_SIZE, SymT.UNBACKED_INT),
    *(SymT.FLOAT, SymT.UNBACKED_FLOAT),
)


# Functions of ../loader.py, which the wrapper calls. They are printed by these names.
class int_bits(sympy.Function):  # type: ignore[misc]  # noqa: N801
    """The bits of an integer or a bool."""


class float_bits(sympy.Function):  # type: ignore[misc]  # noqa: N801
    """The bits of a number as f32."""


class double_bits(sympy.Function):  # type: ignore[misc]  # noqa: N801
    """The bits of a number as f64."""


def is_uniform_symbol(symbol: sympy.Symbol) -> bool:
    """Return True if the launch knows the value of a symbol."""
    return symbol_is_type(symbol, _UNIFORM)


def is_uniform(expr: sympy.Expr) -> bool:
    """Return True if an expression has the same value everywhere in a kernel."""
    return all(map(is_uniform_symbol, expr.free_symbols))


class Symbols:
    """Expressions that a launch computes and gives to the kernel: one symbol of the program for each."""

    def __init__(self) -> None:
        self.of: dict[sympy.Expr, Symbol] = {}

    def size(self, expr: sympy.Expr | int) -> int | Symbol:
        """Return a uniform integer as a number, or as the symbol that stands for it."""
        expr = V.graph.sizevars.simplify(sympy.sympify(expr))
        if expr.is_number:
            return int(expr)
        if expr not in self.of:
            hint = int(V.graph.sizevars.optimization_hint(expr, fallback=8192))
            self.of[expr] = Symbol(f"n{len(self.of)}", hint)
        return self.of[expr]

    def scalar(self, expr: sympy.Expr, element: Element) -> Operand:
        """Return a uniform number in the type in which kernels compute an element type."""
        if expr.is_number:
            return literal(float(expr) if element.kind == "float" else int(expr), element)
        if element.kind != "float":
            bits, text = int_bits(expr), f"({element.math}){{0}}"
        elif element.math == "double":
            bits, text = double_bits(expr), "bits_as<double>({0})"
        else:
            bits, text = float_bits(expr), "bits_as<float>((u32){0})"
        symbol = self.of.setdefault(bits, Symbol(f"n{len(self.of)}", 1))
        return Term(text, (symbol.argument,))

    def host_scalar(self, name: str, dtype: torch.dtype, element: Element) -> Operand:
        """Return the element of a tensor of the host that has no dimensions."""
        if dtype.is_complex:
            raise NotImplementedError(f"{name}, a complex number of the host")
        return self.scalar(sympy.Symbol(f"{name}.item()"), element)
