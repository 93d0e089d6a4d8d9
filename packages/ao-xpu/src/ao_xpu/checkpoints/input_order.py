"""Columns in the order of activations: GPTQ with `desc_act`, compressed-tensors with `actorder`.

Such a layer says for each of its columns which group has its scale. Sorted by group, the columns are groups
of neighbors again, and activations are permuted in the same way.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from .words import group_size

INTEGERS = (torch.int32, torch.int64)


def input_order(g_idx: Tensor, columns: int, groups: int) -> Tensor | None:
    """Return the permutation that sorts columns by group, or None if they are sorted.

    Raise ValueError unless ``g_idx`` [columns] names groups of one size.
    """
    size = group_size(columns, groups)
    if g_idx.shape != (columns,):
        raise ValueError(f"g_idx: got shape {tuple(g_idx.shape)}, expected ({columns},)")
    if g_idx.dtype not in INTEGERS:
        raise ValueError(f"g_idx: got numbers of {g_idx.dtype}, expected int32")
    group_of_column = g_idx.detach().cpu().long()
    sorted_groups = torch.arange(columns) // size
    if torch.equal(group_of_column, sorted_groups):
        return None
    order = group_of_column.argsort(stable=True)
    if not torch.equal(group_of_column[order], sorted_groups):
        raise ValueError(f"g_idx: the columns are no {groups} groups of {size}")
    return order


def require_order(order: Tensor, columns: int) -> Tensor:
    """Return a stored ``input_order``; raise ValueError unless it is a permutation of the columns."""
    shape, is_integer = tuple(order.shape), order.dtype in INTEGERS
    sorted_order = order.detach().cpu().long().flatten().sort().values
    is_whole = shape == (columns,) and torch.equal(sorted_order, torch.arange(columns))
    if not is_integer or not is_whole:
        got, last = f"{order.dtype} of shape {shape}", columns - 1
        raise ValueError(f"input_order: got {got}, expected the numbers 0 to {last}")
    return order.detach().long()


class OrderedLinear(torch.nn.Linear):
    """A linear layer whose weight has its columns in the order ``input_order``, a buffer."""

    input_order: Tensor

    @staticmethod
    def require_convertible(layer: torch.nn.Linear, order: Tensor | None) -> None:
        """Raise ValueError unless `convert` takes the layer: no class of its own may be lost."""
        is_changed = order is not None or isinstance(layer, OrderedLinear)
        if is_changed and type(layer) not in (torch.nn.Linear, OrderedLinear):
            raise ValueError(
                f"columns in the order of activations: {type(layer)} is no nn.Linear. "
                "Use nn.Linear in its place, or a checkpoint without desc_act or actorder"
            )

    @classmethod
    def convert(cls, layer: torch.nn.Linear, order: Tensor | None) -> None:
        """Make a linear layer one of this class, or without an order one of `nn.Linear` again.

        Hooks and the modules that own the layer keep it.
        """
        cls.require_convertible(layer, order)
        if order is not None:
            layer.__class__ = cls
            layer.register_buffer("input_order", order)
        elif isinstance(layer, cls):
            del layer.input_order
            layer.__class__ = torch.nn.Linear

    def forward(self, input: Tensor) -> Tensor:
        """Return the product of permuted activations by the weight, plus the bias."""
        return F.linear(input.index_select(-1, self.input_order), self.weight, self.bias)

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: Any,
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Load the layer; a weight without the order of its columns is an error even if not strict."""
        weight, order = f"{prefix}weight", f"{prefix}input_order"
        if (weight in state_dict) != (order in state_dict):
            error_msgs.append(
                f"the layer has {order}: the state dict must have {weight} and {order} or neither. "
                "Use ao_xpu.checkpoints.load_checkpoint for a checkpoint of another order"
            )
            return
        rest = strict, missing_keys, unexpected_keys, error_msgs
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)
