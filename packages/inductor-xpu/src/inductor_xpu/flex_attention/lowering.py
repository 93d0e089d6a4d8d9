"""Registration of the lowerings of flex attention on xpu."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from typing import Any

import torch
from torch._higher_order_ops.flex_attention import sdpa_dense, sdpa_dense_backward
from torch._inductor.lowering import lowerings, register_lowering
from torch._inductor.subgraph_lowering import SubgraphLoweringException
from torch._inductor.virtualized import V

from .backward import lower_backward
from .forward import lower_forward
from .plain import lower_as_plain_operators

_log = logging.getLogger(__name__)


@functools.cache
def register_lowerings() -> None:
    """Lower flex attention and its gradients on xpu to kernels of ours; on other devices as before."""
    operators = torch.ops.higher_order
    for operator, lower, dense in (
        (operators.flex_attention, lower_forward, sdpa_dense),
        (operators.flex_attention_backward, lower_backward, sdpa_dense_backward),
    ):
        lowering = _on_xpu(operator, lower, dense, lowerings[operator])
        register_lowering(operator, type_promotion_kind=None)(lowering)


def _on_xpu(
    operator: Any, lower: Callable[..., Any], dense: Callable[..., Any], stock: Callable[..., Any]
) -> Callable[..., Any]:
    @functools.wraps(stock)
    def lowering(query: Any, *args: Any) -> Any:
        if query.get_device().type != "xpu":
            return stock(query, *args)
        try:
            with V.graph.set_current_device(query.get_device()):
                return lower(query, *args)
        # The second is raised of a function that is not of elementwise operators.
        except (NotImplementedError, SubgraphLoweringException) as error:
            _log.info("%s is compiled as plain operators: %s", operator.name(), error)
            return lower_as_plain_operators(operator, dense, (query, *args))

    return lowering
