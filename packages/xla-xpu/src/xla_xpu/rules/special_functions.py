"""Rules of special functions that JAX's client would expand into dozens of operations.

Each is a composite, which the compiler replaces by one function of the device library. Its decomposition is
what JAX's own rule gives. digamma, polygamma and zeta are expanded: at their poles XLA has other numbers than
PyTorch, and so the device library.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from jax._src import core
from jax._src.interpreters import mlir
from jax._src.lax import special
from jax._src.lib.mlir import ir
from jax._src.lib.mlir.dialects import func, hlo

_NAMES: dict[Any, str] = {
    special.bessel_i0e_p: "bessel_i0e",
    special.bessel_i1e_p: "bessel_i1e",
    special.erf_inv_p: "erf_inv",
    special.erfc_p: "erfc",
    special.lgamma_p: "lgamma",
}


def apply() -> None:
    """Register each."""
    for primitive, name in _NAMES.items():
        expand = mlir._lowerings[primitive].rule
        mlir.register_lowering(
            primitive, partial(_composite, f"chlo.{name}", expand), platform="xpu"
        )


def _composite(
    name: str, expand: mlir.LoweringRule, ctx: mlir.LoweringRuleContext, *args: Any, **options: Any
) -> Sequence[Any]:
    if not all(core.is_constant_shape(aval.shape) for aval in ctx.avals_out):
        return expand(ctx, *args, **options)  # JAX cannot refine the shapes of decompositions
    (result,) = (mlir.aval_to_ir_type(ctx.module_context, aval) for aval in ctx.avals_out)
    decomposition = func.FuncOp(
        name,
        ([argument.type for argument in args], [result]),
        visibility="private",
        ip=ir.InsertionPoint(ctx.module_context.module.body),
    )
    symbol = ctx.module_context.symbol_table.insert(decomposition)
    block = decomposition.add_entry_block()
    with ir.InsertionPoint(block):
        expanded = expand(ctx, *block.arguments, **options)
        func.ReturnOp(mlir.ir_tree_registry.flatten(expanded)[0])
    return hlo.CompositeOp(
        [result],
        list(args),
        name=ir.StringAttr.get(name),
        decomposition=ir.FlatSymbolRefAttr.get(symbol.value),
    ).results
