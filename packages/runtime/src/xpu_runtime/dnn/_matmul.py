"""Matrix products."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._native import C
from .._stream import Stream, current_stream
from ..array import Array, empty
from ..errors import UsageError
from ._common import Operand, PostOp, Quantization


def matmul(
    a: Operand,
    b: Operand,
    out: Array | None = None,
    *,
    bias: Array | None = None,
    post_ops: Sequence[PostOp] = (),
    a_quantization: Quantization | None = None,
    b_quantization: Quantization | None = None,
    out_quantization: Quantization | None = None,
    dtype: str | None = None,
    deterministic: bool = False,
    allow_tf32: bool = False,
    stream: Stream | None = None,
) -> Array:
    """Return `post_ops(a @ b + bias)`; batch dimensions broadcast.

    `dtype` is the result's: by default a's, or "i32" for integers.
    """
    stream = stream or current_stream(a.device)
    if out is None:
        if len(a.shape) < 2 or len(b.shape) < 2:
            raise UsageError(
                f"matmul: expected two or more dimensions; got shapes {a.shape} and {b.shape}"
            )
        batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        out = empty((*batch, a.shape[-2], b.shape[-1]), dtype or _result_dtype(a.dtype), stream)
    C.matmul(
        stream,
        a,
        b,
        out,
        bias,
        post_ops,
        a_quantization,
        b_quantization,
        out_quantization,
        deterministic,
        allow_tf32,
    )
    return out


def _result_dtype(dtype: str) -> str:
    return "i32" if dtype in ("u8", "i8") else dtype
