"""Whether two devices agree about a call: errors, layouts and aliases, and each element."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import torch
from call import FLOATING, Call
from compare import Finer, Promise, difference, wrong_beside, wrong_beside_finer
from observe import Observed
from values import elements
from xpu_testing.fuzzing import REFUSED, Difference

MAX_STEPS = {torch.float16: 4.0, torch.bfloat16: 4.0}
# Decompositions of dense matrices that have no device algorithm: with fallback off they refuse.
ON_THE_HOST = re.compile(
    r"aten::(_linalg_svd\.U|_linalg_eigh\.eigenvalues|linalg_eig|_linalg_eigvals|linalg_qr\.out|geqrf"
    r"|ormqr|linalg_householder_product|linalg_lstsq\.out|linalg_ldl_factor_ex\.out"
    r"|linalg_ldl_solve\.out) has no xpu kernel"
)
# A dtype that the CPU has no kernel for; xpu may have one.
MISSING_ON_CPU = re.compile(
    "not implemented for|not supported on CPU|unsupported dtype|does not support"
)


def agree_on_errors(expected: Exception | None, got: Exception | None) -> str:
    if got is not None and ON_THE_HOST.search(str(got)):
        return REFUSED
    if expected is not None and got is not None:
        if _kind(expected) == _kind(got) or "out of range for a dimension" in str(got):
            return REFUSED
        raise Difference(f"raises {_short(got)}, expected {_short(expected)}")
    if got is not None:
        raise Difference(f"raises {_short(got)}, the CPU does not")
    assert expected is not None
    if MISSING_ON_CPU.search(str(expected)):
        return REFUSED
    raise Difference(f"does not raise, the CPU does: {_short(expected)}")


def agree_on_layouts(call: Call, expected: Observed, got: Observed) -> None:
    for name in ("results", "outs", "gradients"):
        a, b = expected.layouts[name], got.layouts[name]
        if len(a) != len(b):
            raise Difference(f"{len(b)} {name}, expected {len(a)}")
        # Where dtypes are mixed the CPU converts first, which makes other strides.
        dtypes = {view.dtype for view in call.views()}
        strided = name != "gradients" and (call.operator.strides or call.mode == "i")
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            strided = strided and dtypes <= {x.get("dtype")} | (
                {*dtypes} if x.get("dtype") == torch.bool and len(dtypes) == 1 else set()
            )
            for fact in x:
                if x[fact] != y.get(fact) and (strided or fact != "strides"):
                    raise Difference(f"{name}[{i}] has {fact} {y.get(fact)}, expected {x[fact]}")
    if expected.aliases != got.aliases:
        raise Difference(f"results are of storages {got.aliases}, expected {expected.aliases}")


def compare(
    call: Call, name: str, i: int, a: Any, b: Any, finer: Callable[[], list[Observed]]
) -> None:
    """Raise Difference unless ``b`` is right, where the CPU's result is ``a``."""
    where = f"{name}[{i}]"
    if not isinstance(a, torch.Tensor) or not isinstance(b, torch.Tensor):
        if type(a) is not type(b) or not (a == b or (a != a and b != b)):
            raise Difference(f"{where} {b!r}, expected {a!r}")
        return
    if a.numel() == 0:
        return
    promise = _promise(call, a.dtype)
    bad = wrong_beside(a, b, promise)
    if bad.any() and a.dtype in FLOATING and not promise.exact and finer():
        whole, *noisy = (getattr(each, name) for each in finer())
        if len(whole) > i and whole[i].shape == a.shape:
            beside = Finer(whole[i], [each[i] for each in noisy])
            bad &= wrong_beside_finer(a, b, promise, beside)
    if bad.any():
        raise difference(where, bad, a, b, _operands(call, a.shape))


def _promise(call: Call, dtype: torch.dtype) -> Promise:
    op = call.operator
    gradients = call.gradients
    steps = op.slack * (4 if gradients else 1)
    # Results of 16 bits are computed in float32 and rounded at their end.
    steps = min(steps, MAX_STEPS.get(dtype, steps))
    # A wider ``out`` has no more digits than what is put in.
    eps = 0.0
    if (call.mode == "o" and call.out_style == "dtype") or "dtype" in call.named:
        eps = call.format().epsilon
    if dtype in (torch.float64, torch.complex128) and op.doubles:
        eps = max(eps, op.doubles / steps)
    return Promise(steps, op.around, op.exact and not gradients, eps)


def _operands(call: Call, shape: torch.Size) -> list[torch.Tensor]:
    """Return the tensors among the arguments, at the places of a result's elements."""
    found = []
    for view in call.views():
        whole = elements(call.generator.storages[view.storage])
        tensor = whole.as_strided(view.size, view.stride, view.offset)
        try:
            found.append(tensor.broadcast_to(shape))
        except RuntimeError:
            return []  # not an operator of elements
    return found


def _kind(error: Exception) -> type:
    return RuntimeError if isinstance(error, RuntimeError) else type(error)


def _short(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
