"""Score and mask functions of flex attention, and what they make of attention in f64 on the host."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch._higher_order_ops.flex_attention import sdpa_dense
from torch.nn.attention.flex_attention import (
    AuxRequest,
    and_masks,
    create_block_mask,
    flex_attention,
    or_masks,
)

Tensors = dict[str, torch.Tensor]


def causal(b, h, q, k):
    return q >= k


def window(b, h, q, k):
    return (q - k).abs() <= 20


def make_tensors(batches: int, heads: int, queries: int, keys: int) -> Tensors:
    """Return what functions capture, on the host."""
    return {
        "slopes": torch.exp2(-torch.arange(1, heads + 1) / 2),
        "by_distance": torch.randn(queries + keys),
        "by_key": torch.randn(heads, keys),
        "by_query": torch.randn(batches, queries),
        "full": torch.randn(queries, keys),
        "document": torch.arange(max(queries, keys))
        .div(37, rounding_mode="floor")
        .repeat(batches, 1)
        + torch.arange(batches)[:, None],
        "length": torch.arange(batches) * 11 + keys // 2,
        "head_kind": torch.arange(heads) % 2 == 0,
        "temperature": torch.tensor(0.7),
        "middle": torch.tensor(queries // 2),
    }


Maker = Callable[[Tensors], Callable[..., Any]]


@dataclass(frozen=True)
class Case:
    """Functions of captured tensors; ``per_batch``: the block mask has batches and heads."""

    score: Maker | None = None
    mask: Maker | None = None
    per_batch: bool = False

    def functions(self, tensors: Tensors) -> tuple[Any, Any]:
        """Return the score and the mask function."""
        return self.score and self.score(tensors), self.mask and self.mask(tensors)


CASES: dict[str, Case] = {
    "noop": Case(),
    "causal": Case(mask=lambda t: causal),
    "window": Case(mask=lambda t: window),
    "causal window": Case(mask=lambda t: and_masks(causal, window)),
    "prefix": Case(mask=lambda t: or_masks(causal, lambda b, h, q, k: k < 30)),
    "dilated": Case(mask=lambda t: lambda b, h, q, k: ((q - k) % 3 == 0) & (q >= k)),
    "documents": Case(
        mask=lambda t: lambda b, h, q, k: t["document"][b, q] == t["document"][b, k], per_batch=True
    ),
    "causal documents": Case(
        mask=lambda t: and_masks(
            causal, lambda b, h, q, k: t["document"][b, q] == t["document"][b, k]
        ),
        per_batch=True,
    ),
    "lengths": Case(mask=lambda t: lambda b, h, q, k: k < t["length"][b], per_batch=True),
    "heads": Case(
        mask=lambda t: lambda b, h, q, k: torch.where(t["head_kind"][h], q >= k, q <= k),
        per_batch=True,
    ),
    "scalar tensor": Case(mask=lambda t: lambda b, h, q, k: (k <= t["middle"]) | (q == k)),
    "hidden rows": Case(mask=lambda t: lambda b, h, q, k: (q % 5 != 2) & (q < 90) & (q >= k)),
    "hidden by score": Case(
        score=lambda t: lambda s, b, h, q, k: torch.where((q % 4 != 1) & (q >= k), s, -math.inf)
    ),
    "alibi": Case(score=lambda t: lambda s, b, h, q, k: s + t["slopes"][h] * (k - q)),
    "causal alibi": Case(
        score=lambda t: lambda s, b, h, q, k: s + t["slopes"][h] * (k - q), mask=lambda t: causal
    ),
    "distance table": Case(
        score=lambda t: lambda s, b, h, q, k: s + t["by_distance"][q - k + t["full"].shape[1] - 1]
    ),
    "key table": Case(score=lambda t: lambda s, b, h, q, k: s + t["by_key"][h, k]),
    "query factor": Case(score=lambda t: lambda s, b, h, q, k: s * t["by_query"][b, q]),
    "full bias": Case(score=lambda t: lambda s, b, h, q, k: s + t["full"][q, k]),
    "soft cap": Case(
        score=lambda t: lambda s, b, h, q, k: 2 * torch.tanh(s / 2), mask=lambda t: window
    ),
    "temperature": Case(score=lambda t: lambda s, b, h, q, k: s * t["temperature"]),
    "two tables": Case(
        score=lambda t: (
            lambda s, b, h, q, k: s * torch.sigmoid(t["by_query"][b, q]) + t["by_key"][h, k] * 0.5
        ),
        mask=lambda t: lambda b, h, q, k: t["document"][b, q] >= t["document"][b, k],
        per_batch=True,
    ),
    "integers": Case(score=lambda t: lambda s, b, h, q, k: s + (q ^ k) % 7 - (b + h).float().sin()),
}


def on_xpu(tensors: Tensors) -> Tensors:
    """Return copies on the device; captured numbers stay f32, as in the graph of a program."""
    return {name: tensor.to("xpu") for name, tensor in tensors.items()}


def in_f64(tensors: Tensors) -> Tensors:
    """Return what the reference computes with."""
    return {name: t.double() if t.is_floating_point() else t for name, t in tensors.items()}


def block_mask_of(case: Case, tensors: Tensors, q: Any, k: Any, block: Any = 128) -> Any:
    """Return the block mask on the device of the tensors; None without a mask."""
    mask = case.functions(tensors)[1]
    if mask is None:
        return None
    outer = (q.shape[0], q.shape[1]) if case.per_batch else (None, None)
    return create_block_mask(
        mask, *outer, q.shape[2], k.shape[2], device=q.device.type, BLOCK_SIZE=block
    )


def attend(case: Case, q: Any, k: Any, v: Any, tensors: Tensors, block_mask: Any) -> Any:
    """Compute attention, its logsumexp and its largest scores."""
    score = case.functions(tensors)[0]
    out, aux = flex_attention(
        q,
        k,
        v,
        score_mod=score,
        block_mask=block_mask,
        enable_gqa=q.shape[1] != k.shape[1],
        return_aux=AuxRequest(lse=True, max_scores=True),
    )
    return out, aux.lse, aux.max_scores


def reference(case: Case, q: Any, k: Any, v: Any, tensors: Tensors) -> Any:
    """Return the same in f64, with all scores in memory."""
    score, mask = case.functions(tensors)
    results = sdpa_dense(
        q,
        k,
        v,
        score or (lambda s, b, h, i, j: s),
        (mask or (lambda b, h, i, j: torch.ones((), dtype=torch.bool)),),
        1 / math.sqrt(q.shape[3]),
        {},
    )
    return results[0], results[1] * math.log(2), results[2] * math.log(2)
