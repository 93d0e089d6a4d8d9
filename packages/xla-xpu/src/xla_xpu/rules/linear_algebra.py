"""Rules of decompositions: LU runs on the device, the others in LAPACK on the host."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jax._src.interpreters import mlir
from jax._src.lax import linalg
from jax._src.lib.mlir.dialects import hlo

from .host_primitives import register
from .import_hook import call_on_import

_ON_HOST = {
    "eig": linalg.eig_p,
    "eigh": linalg.eigh_p,
    "geqp3": linalg.geqp3_p,
    "geqrf": linalg.geqrf_p,
    "hessenberg": linalg.hessenberg_p,
    "householder product": linalg.householder_product_p,
    "qr": linalg.qr_p,
    "schur": linalg.schur_p,
    "svd": linalg.svd_p,
    "tridiagonal": linalg.tridiagonal_p,
}


def apply() -> None:
    """Register each, and the sparse solver, which is SciPy's."""
    for name, primitive in _ON_HOST.items():
        register(primitive, f"lapack {name} (host)")
    mlir.register_lowering(linalg.lu_p, _lu, platform="xpu")
    call_on_import("jax.experimental.sparse.linalg", _solve_sparse)


def _lu(ctx: mlir.LoweringRuleContext, matrix: Any) -> Sequence[Any]:
    call = mlir.custom_call(
        "xpu_lu",
        result_types=[mlir.aval_to_ir_type(ctx.module_context, aval) for aval in ctx.avals_out],
        operands=[matrix],
    )
    factors, pivots, permutation = call.results
    # LAPACK counts from one.
    ones = mlir.full_like_aval(ctx, 1, ctx.avals_out[1])
    return factors, hlo.subtract(pivots, ones), permutation


def _solve_sparse(module: Any) -> None:
    mlir.register_lowering(module.spsolve_p, module._spsolve_cpu_lowering, platform="xpu")
