"""Decompositions that LAPACK computes on the host: there is no device algorithm for them."""

from __future__ import annotations

from typing import Any

from jax._src.interpreters import mlir
from jax._src.lax import linalg

from .later import when_imported
from .on_host import register

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
    """Registers each, and the sparse solver, which is SciPy's."""
    for name, primitive in _ON_HOST.items():
        register(primitive, f"lapack {name} (host)")
    when_imported("jax.experimental.sparse.linalg", _solve_sparse)


def _solve_sparse(module: Any) -> None:
    mlir.register_lowering(module.spsolve_p, module._spsolve_cpu_lowering, platform="xpu")
