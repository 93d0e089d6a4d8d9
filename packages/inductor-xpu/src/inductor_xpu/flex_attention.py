"""Flex attention as plain operators, since its fused kernels are Triton's; each use is counted.

The scores are a tensor in memory. Inductor fuses the functions of score and mask, and derives gradients.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import torch

_uses: Counter[str] = Counter()


def fallbacks() -> dict[str, int]:
    """Return how often each operator was compiled unfused, as plain operators, since the start."""
    return dict(_uses)


def use_plain_operators(node: torch.fx.Node) -> None:
    """Replace a call of flex attention in a graph of Dynamo's."""
    node.target = attend
    _uses["flex_attention"] += 1


def attend(*args: Any) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Compute attention, logsumexp and the largest scores, in the precision that the operator defines."""
    from torch._higher_order_ops.flex_attention import sdpa_dense

    with torch.autocast("xpu", enabled=False):
        return sdpa_dense(*args)
