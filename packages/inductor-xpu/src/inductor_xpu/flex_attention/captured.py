"""The gradient of a tensor that a score function captures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy
import torch
from torch._inductor import ir
from torch._inductor.lowering import _full
from torch._inductor.virtualized import V, ops

from .operands import Operands, value_of


class CapturedGradient:
    """The tensor ``total``, zeros at first, and ``store``, which adds to it."""

    def __init__(self, total: Any, store: Callable[[], Any]) -> None:
        self.total, self.store = total, store

    @classmethod
    def of(cls, buffer: Any, given: Operands) -> CapturedGradient | None:
        """Return the gradient for a buffer of the joint graph; None for none."""
        if buffer is None:
            return None
        if isinstance(buffer.data, ir.Scatter):
            total = ir.TensorBox.create(V.graph.get_buffer(buffer.get_name()))
            total.freeze_layout()
            return cls(total, lambda: buffer.get_store_function()(()))
        if buffer.get_size():
            raise NotImplementedError(
                "flex attention: the gradient of a tensor captured as a whole"
            )
        # A number that all scores use.
        total = _full(0, given.device, torch.float32, [])
        total.realize()
        name, value = total.get_name(), value_of(buffer)
        return cls(total, lambda: ops.store(name, sympy.S.Zero, value(), mode="atomic_add"))
