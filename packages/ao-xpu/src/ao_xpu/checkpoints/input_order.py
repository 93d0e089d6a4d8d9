"""Columns in the order of activations: GPTQ with `desc_act`, compressed-tensors with `actorder`.

Such a layer says for each of its columns which group has its scale. Sorted by group, the columns are groups
of neighbours again, and activations are permuted in the same way.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from .words import group_size


def input_order(g_idx: Tensor, columns: int, groups: int) -> Tensor | None:
    """Return the permutation that sorts columns by group, or None if they are sorted.

    Raise ValueError unless ``g_idx`` [columns] names groups of one size.
    """
    size = group_size(columns, groups)
    if g_idx.shape != (columns,):
        raise ValueError(f"g_idx: got shape {tuple(g_idx.shape)}, expected ({columns},)")
    group_of_column = g_idx.detach().cpu().long()
    sorted_groups = torch.arange(columns) // size
    if torch.equal(group_of_column, sorted_groups):
        return None
    order = group_of_column.argsort(stable=True)
    if not torch.equal(group_of_column[order], sorted_groups):
        raise ValueError(f"g_idx: the columns are no {groups} groups of {size}")
    return order


class OrderedLinear(torch.nn.Linear):
    """A linear layer whose weight has its columns in the order ``input_order``, a buffer."""

    input_order: Tensor

    @classmethod
    def convert(cls, layer: torch.nn.Linear, order: Tensor) -> None:
        """Make a linear layer one of this class; hooks and the modules that own it keep it."""
        if type(layer) is not torch.nn.Linear:
            raise ValueError(f"columns in the order of activations: {type(layer)} is no nn.Linear")
        layer.__class__ = cls
        layer.register_buffer("input_order", order)

    def forward(self, input: Tensor) -> Tensor:
        """Return the product of permuted activations by the weight, plus the bias."""
        return F.linear(input.index_select(-1, self.input_order), self.weight, self.bias)
