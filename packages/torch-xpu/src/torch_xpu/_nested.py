"""Nested tensors of the jagged layout: what PyTorch does by device in Python."""

from __future__ import annotations

from typing import Any

import torch

_library: torch.library.Library | None = None


def _padded(t: torch.Tensor) -> torch.Tensor:
    """[batch, heads, length, size] of a nested tensor whose third dimension is ragged."""
    rows: Any = t.transpose(1, 2)
    size = (rows.size(0), rows._get_max_seqlen(), rows.size(2), rows.size(3))
    return rows.to_padded_tensor(0.0, output_size=size).transpose(1, 2)


def _lengths(t: Any) -> torch.Tensor:
    return t.offsets().diff().view(-1, 1, 1, 1)


def _visible(query: Any, key: Any, queries: int, keys: int, is_causal: bool) -> torch.Tensor:
    """Return which keys a query sees; the last query of a sequence sees all its keys."""
    last = _lengths(key)
    at = torch.arange(keys, device=query.device)
    if is_causal:
        place = torch.arange(queries, device=query.device).view(-1, 1) + 1
        last = torch.minimum(last, place + last - _lengths(query))
    return at < last


def _attention(
    query: Any,
    key: Any,
    value: Any,
    dropout_p: float,
    is_causal: bool,
    scale: float | None,
    gqa: bool,
) -> torch.Tensor:
    """Attention of sequences padded to one length: the device never waits for their lengths."""
    from torch.nested._internal.nested_tensor import nested_from_padded

    query, key, value = (t if t.lengths() is None else t.contiguous() for t in (query, key, value))
    q, k, v = (_padded(t) for t in (query, key, value))
    # Padding comes last, so that it hides itself from queries that see no key after their own place.
    same = query.size(2) == key.size(2)
    mask = None if is_causal and same else _visible(query, key, q.size(2), k.size(2), is_causal)
    out = torch.nn.functional.scaled_dot_product_attention(
        q, k, v, mask, dropout_p, is_causal and mask is None, scale=scale, enable_gqa=gqa
    )
    rows = query.transpose(1, 2)
    nested = nested_from_padded(
        out.transpose(1, 2),
        offsets=rows.offsets(),
        min_seqlen=rows._maybe_min_seqlen,
        max_seqlen=rows._maybe_max_seqlen,
        sum_S=rows.values().size(0),
    )
    return nested.transpose(1, 2)


def install() -> None:
    """Let nested tensors on xpu attend, and their views be differentiated."""
    global _library
    from torch.nested._internal import ops, sdpa

    if _library is not None:
        return
    _library = torch.library.Library("aten", "IMPL")
    _library.impl("_nested_get_jagged_dummy", ops._nested_get_jagged_dummy, "XPU")
    stock = sdpa.jagged_scaled_dot_product_attention

    def attention(
        query: Any,
        key: Any,
        value: Any,
        attn_mask: torch.Tensor | None = None,
        dropout_p: float = 0.0,
        is_causal: bool = False,
        scale: float | None = None,
        enable_gqa: bool = False,
    ) -> torch.Tensor:
        nested = all(
            t.is_nested and t.dim() == 4 and t._ragged_idx == 2 for t in (query, key, value)
        )
        if query.device.type != "xpu" or not nested or attn_mask is not None:
            return stock(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa)
        query, key, value, _ = sdpa._autocast(query, key, value, None)
        sdpa._validate_sdpa_input(query, key, value, None, dropout_p, is_causal, scale)
        return _attention(query, key, value, dropout_p, is_causal, scale, enable_gqa)

    ops.jagged_scaled_dot_product_attention = attention
    sdpa.jagged_scaled_dot_product_attention = attention
