"""What operators of Inductor's loops are called through."""

from __future__ import annotations

from typing import Any

import sympy
import torch
from torch._inductor.codegen.common import CSEProxy, CSEVariable
from torch._inductor.utils import generate_assert
from xpu_runtime.codegen.statements import Term

from .bounds import is_within


class Proxy(CSEProxy):
    """Inductor's proxy; indices that values give are checked and wrapped by the device library.

    Inductor computes index expressions in the type of positions, whichever it asks for. They are int64 here
    where that holds too little.
    """

    def index_expr(self, expr: sympy.Expr, dtype: torch.dtype) -> CSEVariable:
        """Return an index as a value."""
        kernel = self.kernel
        if dtype != torch.int64 or kernel.index_element.math == "i64":
            return self._default("index_expr", (expr, dtype), {})
        if not kernel.positions.magnitudes.fit(kernel.prepare_indexing(expr), "i32"):
            return self._default("value_expr", (expr, dtype), {})
        return self._default("index_expr", (expr, dtype), {})

    def indirect_indexing(
        self, var: CSEVariable, size: Any, check: bool = True, wrap_neg: bool = True
    ) -> sympy.Symbol:
        """Return a value as an index."""
        kernel = self.kernel
        if generate_assert(check) and not is_within(var.bounds, size):
            return sympy.Symbol(kernel.checked_index(var, size, wrap_neg), integer=True)
        type = kernel.index_type(size)
        index = Term(f"({type})({{0}})", (var.name,))
        if wrap_neg and not var.bounds.lower >= 0:
            index = Term("({0} < 0 ? {0} + {1} : {0})", (index, kernel.size_text(size)))
        name = kernel.builder.define(type, index)
        kernel.index_sizes[name] = size
        return sympy.Symbol(name, integer=True)
