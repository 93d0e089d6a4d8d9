"""Values of a kernel: Inductor's common subexpressions, defined by statements of a loop program."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch._inductor.codegen.common import CSE, CSEVariable
from torch._inductor.virtualized import OpsValue, V
from torch.utils._ordered_set import OrderedSet
from torch.utils._sympy.value_ranges import ValueRanges
from xpu_runtime.codegen.builder import Builder
from xpu_runtime.codegen.elements import Element, find_element
from xpu_runtime.codegen.statements import Let, Load, Operand, Statement, Term

# Inductor asks for the shape of a value's block; a lane has one element of each.
SHAPE = ("lanes",)
_ANY = ValueRanges.unknown()


def element_of(dtype: torch.dtype) -> Element:
    """Return the element type of a dtype; raise VocabularyError if kernels have none."""
    return find_element(pytorch=str(dtype).removeprefix("torch."))


@dataclass(frozen=True, eq=False)
class Expression:
    """An operand on its way from an operator to the variable that Inductor makes of it.

    A leaf to PyTorch's trees, which an operand, a tuple, is not.
    """

    operand: Operand


def term(template: str, *args: Operand) -> Expression:
    """Return the expression of a template over operands."""
    return Expression(Term(template, args))


class DeviceExpression(str):
    """An expression of the device library, which takes operands for {0}, {1}, … as assembler text would."""


class Statements(Builder):
    """Statements with names that Inductor takes for values in an index.

    ``user_lines`` are lines of the user's program, by what a statement defines.
    """

    def __init__(self, current_line: Callable[[], str] | None) -> None:
        super().__init__()
        self.current_line = current_line
        self.user_lines: dict[str, str] = {}

    def add(self, statement: Statement) -> None:
        """Append a statement and note the line for which it is."""
        super().add(statement)
        if isinstance(statement, Let | Load):
            self.note_line(statement.name)

    def note_line(self, *names: str) -> None:
        """Note the user's line of what has the names."""
        if self.current_line is not None:
            self.user_lines.update(dict.fromkeys(names, self.current_line()))

    def new_name(self, letter: str = "tmp") -> str:
        """Return a name that no other statement uses."""
        return super().new_name(letter)


class Values(CSE):
    """The names of values. ``builder`` collects their definitions."""

    def __init__(self, builder: Builder) -> None:
        super().__init__()
        self.builder = builder
        self.known: dict[str, CSEVariable] = {}

    def generate(
        self,
        buffer: Any,
        expr: Any,
        *,
        bounds: ValueRanges[Any] = _ANY,
        write: bool = True,
        assignment: bool = True,
        dtype: torch.dtype | None = None,
        shape: Any = None,
    ) -> CSEVariable:
        """Return the variable of an expression, whose definition equal expressions share."""
        if isinstance(expr, OpsValue):
            expr = expr.value
        if isinstance(expr, CSEVariable):
            expr.bounds = expr.bounds.tighten(bounds)
            expr.use_count += 1
            return expr
        if dtype is None or not isinstance(expr, Expression):
            raise NotImplementedError(f"a value of {dtype} from {expr!r}")
        name = self.builder.define(element_of(dtype).math, expr.operand)
        return self.variable(name, bounds, dtype)

    def variable(
        self, name: str, bounds: ValueRanges[Any], dtype: torch.dtype | None
    ) -> CSEVariable:
        """Return the variable of a name that statements define."""
        known = self.known.get(name)
        if known is None:
            known = self.known[name] = V.kernel.create_cse_var(name, bounds, dtype, SHAPE)
        else:
            known.bounds = known.bounds.tighten(bounds)
            known.use_count += 1
        return known

    def end_loop(self, row: list[Statement], definitions: dict[Any, str]) -> None:
        """Forget the values of elements, which another loop does not see; collect statements of the row."""
        keep = OrderedSet(self.known[name] for name in definitions.values() if name in self.known)
        for results in self.reduction_cache.values():
            keep |= OrderedSet(results if isinstance(results, tuple) else (results,))
        self.invalidate(keep)
        self.known = {name: value for name, value in self.known.items() if value in keep}
        self.builder.statements = row
        self.builder.definitions = definitions
