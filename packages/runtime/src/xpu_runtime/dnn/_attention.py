"""Attention."""

from __future__ import annotations

import math

from .._native import C
from .._stream import Stream, current_stream
from ..array import Array
from ..errors import UsageError
from ._convolution import empty_like_layout


def attention(
    q: Array,
    k: Array,
    v: Array,
    *,
    scale: float | None = None,
    causal: bool = False,
    mask: Array | None = None,
    out: Array | None = None,
    logsumexp: Array | None = None,
    dropout: float = 0.0,
    random: tuple[int, int] = (0, 0),
    stream: Stream | None = None,
) -> Array:
    """Return `softmax(q k^T * scale + mask) v` for q N H S D, k N G T D and v N G T E, where G divides H.

    `scale` is 1 / sqrt(D) unless given. With `causal` query i sees keys up to i. A `mask` broadcasts against
    N H S T: floats are added, a false hides. `logsumexp`, f32 N H S, is written when given. `dropout` is the
    share of weights that become 0, chosen by `random`, a generator's seed and offset. Memory grows with
    S + T, not with S * T.
    """
    if len(q.shape) != 4 or len(v.shape) != 4:
        raise UsageError(
            f"attention: expected q N H S D and v N G T E; got {q.shape} and {v.shape}"
        )
    stream = stream or current_stream(q.device)
    out = out or empty_like_layout((*q.shape[:3], v.shape[3]), q, q.dtype, stream)
    scale = 1 / math.sqrt(max(q.shape[3], 1)) if scale is None else scale
    C.attention(stream, q, k, v, out, scale, causal, mask, logsumexp, dropout, *random)
    return out


def attention_backward(
    grad_out: Array,
    q: Array,
    k: Array,
    v: Array,
    out: Array,
    logsumexp: Array,
    *,
    scale: float | None = None,
    causal: bool = False,
    mask: Array | None = None,
    dropout: float = 0.0,
    random: tuple[int, int] = (0, 0),
    stream: Stream | None = None,
) -> tuple[Array, Array, Array]:
    """Return the gradients of q, k and v, from what `attention` with the same arguments gave and wrote."""
    if len(q.shape) != 4:
        raise UsageError(f"attention_backward: expected q N H S D; got {q.shape}")
    stream = stream or current_stream(q.device)
    scale = 1 / math.sqrt(max(q.shape[3], 1)) if scale is None else scale
    grad_q, grad_k, grad_v = (empty_like_layout(t.shape, t, t.dtype, stream) for t in (q, k, v))
    grads = (grad_q, grad_k, grad_v)
    operands = (grad_out, q, k, v, out, *grads)
    C.attention_backward(stream, *operands, scale, causal, mask, logsumexp, dropout, *random)
    return grads
