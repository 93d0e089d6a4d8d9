"""Divisions and index expressions that stock Inductor gets wrong: what replaces them for xpu."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any


def division(stock: Any) -> Any:
    """Divide by a constant, unless multiplying by its reciprocal gives the same."""
    from torch._inductor.lowering import get_constant_value, make_pointwise
    from torch._inductor.virtualized import ops

    divide = make_pointwise(ops.truediv)

    @functools.wraps(stock)
    def div_prim(a: Any, b: Any) -> Any:
        divisor = get_constant_value(b)
        if divisor is None or a.get_device().type != "xpu" or has_f32_reciprocal(divisor.value):
            return stock(a, b)
        return divide(a, b)

    return div_prim


def has_f32_reciprocal(divisor: Any) -> bool:
    """Return True if multiplying by the f32 reciprocal gives what dividing gives, also 0 and infinities."""
    return divisor == 0 or 2.0**-126 <= abs(1 / divisor) < 2.0**128 or math.isinf(abs(divisor))


def index_of(is_right: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
    """Keep an operation within index expressions only where ``is_right`` of its operands; else compute it."""

    def replace(stock: Any) -> Any:
        import sympy
        from torch._inductor.virtualized import V

        @functools.wraps(stock)
        def operation(x: Any, y: Any) -> Any:
            is_of_xpu = "xpu" in getattr(V.graph, "device_types", ())
            if is_of_xpu and not is_right(sympy.sympify(x.expr), sympy.sympify(y.expr)):
                return NotImplemented
            return stock(x, y)

        return staticmethod(operation)

    return replace
