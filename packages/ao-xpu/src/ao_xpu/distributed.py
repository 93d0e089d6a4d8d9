"""Distribution of quantized weights: torchao's tensors lack what DTensor and FSDP call, and say so here."""

from __future__ import annotations

from typing import Any, NoReturn

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves

from .handlers import Handler

_aten = torch.ops.aten

# What `distribute_tensor`, `fully_shard` and `DTensor.from_local` call first, and the class lacks.
_BROADCAST = torch.ops.c10d.broadcast_.default
_SHARD = (_BROADCAST, _aten.split.Tensor, _aten.view.default)
MISSING = {
    "Int4PreshuffledTensor": _SHARD,
    "Int4TilePackedTo4dTensor": _SHARD,
    "Int8Tensor": _SHARD,
    "IntxUnpackedToInt8Tensor": _SHARD,
    "Int4Tensor": (_BROADCAST, _aten.split.Tensor),
    "Int4PlainInt32Tensor": (
        _BROADCAST,
        _aten.view.default,
        _aten.empty_like.default,
        _aten.new_zeros.default,
    ),
    "Float8Tensor": (_BROADCAST, _aten.empty_like.default, _aten.new_zeros.default),
}


def reject(stock: Handler) -> Handler:
    """Reject a function that the class of a weight on xpu lacks."""

    def handler(func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        for leaf in tree_leaves((args, kwargs)):
            if type(leaf) in types and leaf.device.type == "xpu":
                _raise(leaf, func)
        return stock(func, types, args, kwargs)

    return handler


def reject_same_view(stock: Handler) -> Handler:
    """Reject a view of as many dimensions, of which torchao's handler has no result."""

    def handler(func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        weight, size = args
        if weight.device.type == "xpu" and weight.dim() == len(size):
            _raise(weight, func)
        return stock(func, types, args, kwargs)

    return handler


def reject_in(cls: Any) -> None:
    """Let a class of this package reject what `distribute_tensor` and `fully_shard` call first."""

    @cls.implements(_SHARD)
    def handler(func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        _raise(next(leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, cls)), func)


def _raise(weight: Tensor, func: Any) -> NoReturn:
    raise NotImplementedError(
        f"{type(weight).__name__} has no {func}: DTensor and fully_shard do not distribute it. "
        "Quantize each rank's own slice of the weight instead"
    )
