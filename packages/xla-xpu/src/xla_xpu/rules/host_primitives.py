"""Rules of primitives that JAX's CPU backend computes; the custom call contains their program for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax._src import core
from jax._src.interpreters import mlir

TARGET = "xpu_host_program"
"""The custom call; its configuration is the step's name, a newline, and the program's text."""


def lower_on_host(
    ctx: mlir.LoweringRuleContext,
    name: str,
    function: Callable[..., Any],
    operands: Sequence[Any],
    has_side_effect: bool = False,
) -> Sequence[Any]:
    """Emit a custom call that runs ``function`` on JAX's CPU backend; ``host_calls()`` counts ``name``."""
    avals = [core.physical_aval(aval) for aval in ctx.avals_in]
    arguments = [jax.ShapeDtypeStruct(aval.shape, aval.dtype) for aval in avals]
    program = jax.jit(function, keep_unused=True).trace(*arguments)
    text = program.lower(lowering_platforms=("cpu",)).as_text()
    call = mlir.custom_call(
        TARGET,
        result_types=[mlir.aval_to_ir_type(ctx.module_context, aval) for aval in ctx.avals_out],
        operands=operands,
        backend_config=f"{name}\n{text}",
        has_side_effect=has_side_effect,
    )
    return call.results


def register(primitive: core.Primitive, name: str) -> None:
    """Make JAX's CPU backend compute ``primitive`` on xpu."""

    def rule(ctx: mlir.LoweringRuleContext, *operands: Any, **parameters: Any) -> Sequence[Any]:
        return lower_on_host(ctx, name, lambda *x: primitive.bind(*x, **parameters), operands)

    mlir.register_lowering(primitive, rule, platform="xpu")
