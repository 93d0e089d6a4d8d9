"""Views of Int4PlainInt32Tensor: its class has none. Each shares memory with its base.

Numbers are packed along the dimension whose block size is not 1: along the columns, and along the rows of a
transpose. Parts along it are whole groups.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import return_and_correct_aliasing

from ..handlers import Handler
from .plain_int32 import DEVICES


def slice_bounds(weight: Any, args: Any) -> tuple[int, int, int]:
    """Return dimension, begin and end of the arguments of `aten.slice`; reject steps, and parts of groups."""
    given = list(args[1:])
    dim, begin, end, step = given + [0, None, None, 1][len(given) :]
    dim %= weight.dim()
    begin, end, step = slice(begin, end, step).indices(weight.shape[dim])
    _require_blocks(weight, dim, begin, end)
    if step != 1:
        raise NotImplementedError(f"a slice of an int4 tensor with step {step}")
    return dim, begin, max(begin, end)


def slice_(stock: Handler) -> Handler:
    """Slice; `narrow` comes here too."""

    def view(weight: Any, args: Any) -> Any:
        return _part(weight, *slice_bounds(weight, args))

    return _handler(stock, view)


def split(stock: Handler) -> Handler:
    """Split into parts of one size; `chunk` comes here too."""

    def view(weight: Any, args: Any) -> Any:
        size, dim = args[1], (args[2] if len(args) > 2 else 0) % weight.dim()
        length = weight.shape[dim]
        sizes = [min(size, length - begin) for begin in range(0, length, size)]
        return _parts(weight, sizes, dim)

    return _handler(stock, view)


def split_with_sizes(stock: Handler) -> Handler:
    """Split into parts of given sizes."""

    def view(weight: Any, args: Any) -> Any:
        return _parts(weight, args[1], (args[2] if len(args) > 2 else 0) % weight.dim())

    return _handler(stock, view)


def transpose(stock: Handler) -> Handler:
    """Transpose a matrix: `t()` and `transpose(0, 1)`."""

    def view(weight: Any, args: Any) -> Any:
        dims = [dim % weight.dim() for dim in args[1:]] or [0, 1]
        if weight.dim() != 2 or dims[0] == dims[1]:
            return weight._apply_fn_to_data(lambda data: data.view_as(data))
        data = [part.t() for part in (weight.qdata, weight.scale, weight.zero_point)]
        sizes = [*reversed(weight.block_size)], [*reversed(weight.shape)]
        return type(weight)(*data, *sizes, weight.act_pre_scale)

    return _handler(stock, view)


def select(stock: Handler) -> Handler:
    """Select a row."""

    def view(weight: Any, args: Any) -> Any:
        dim, index = args[1] % weight.dim(), args[2]
        if weight.dim() != 2 or weight.block_size[dim] != 1:
            raise NotImplementedError("an int4 tensor selects no columns: dequantize it first")
        data = weight.qdata.select(dim, index)
        parameters = [p.select(1 - dim, index) for p in (weight.scale, weight.zero_point)]
        other = 1 - dim
        sizes = [weight.block_size[other]], [weight.shape[other]]
        return type(weight)(data, *parameters, *sizes, weight.act_pre_scale)

    return _handler(stock, view)


def cat(stock: Handler) -> Handler:
    """Concatenate matrices with groups of one size, along rows or columns, into new memory."""

    def handler(func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        tensors, dim = args[0], args[1] if len(args) > 1 else kwargs.get("dim", 0)
        first = tensors[0]
        if any(type(t) is not type(first) or t.device != first.device for t in tensors):
            raise ValueError("int4 tensors concatenate with int4 tensors of the same device")
        if first.device.type not in DEVICES:
            return stock(func, types, args, kwargs)
        dim %= first.dim()
        if first.dim() != 2 or any(t.block_size != first.block_size for t in tensors):
            raise ValueError("int4 tensors to concatenate are matrices with groups of one size")
        before = _joined_scale([t.act_pre_scale for t in tensors], first.block_size[dim] != 1)
        data = torch.cat([t.qdata for t in tensors], dim)
        parameters = [
            torch.cat([getattr(t, name) for t in tensors], 1 - dim)
            for name in ("scale", "zero_point")
        ]
        shape = list(first.shape)
        shape[dim] = sum(t.shape[dim] for t in tensors)
        return type(first)(data, *parameters, first.block_size, shape, before)

    return handler


def _handler(stock: Handler, view: Any) -> Handler:
    def handler(func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if args[0].device.type not in DEVICES:
            return stock(func, types, args, kwargs)
        return return_and_correct_aliasing(func, args, kwargs, view(args[0], args))

    return handler


def _part(weight: Any, dim: int, begin: int, end: int) -> Any:
    block, length = weight.block_size[dim], end - begin
    words = 8 if block > 1 else 1
    data = weight.qdata.narrow(dim, begin // words, length // words)
    param_dim = 1 - dim if weight.dim() == 2 else dim
    parameters = [
        p.narrow(param_dim, begin // block, length // block)
        for p in (weight.scale, weight.zero_point)
    ]
    before = weight.act_pre_scale
    if isinstance(before, Tensor) and before.numel() > 1 and block > 1:
        before = before.narrow(-1, begin, length)
    shape = list(weight.shape)
    shape[dim] = length
    return type(weight)(data, *parameters, weight.block_size, shape, before)


def _parts(weight: Any, sizes: Any, dim: int) -> list[Any]:
    parts, begin = [], 0
    for size in sizes:
        _require_blocks(weight, dim, begin, begin + size)
        parts.append(_part(weight, dim, begin, begin + size))
        begin += size
    return parts


def _require_blocks(weight: Any, dim: int, begin: int, end: int) -> None:
    block = weight.block_size[dim]
    unit = 1 if block == 1 else math.lcm(block, 8)  # whole groups in whole words
    if begin % unit or end % unit:
        raise ValueError(f"elements {begin} to {end} of an int4 tensor are no groups of {unit}")


def _joined_scale(scales: list[Any], along_groups: bool) -> Any:
    """Return the activation scale of concatenated weights, which must have one each or none."""
    first = scales[0]
    if all(scale is first for scale in scales) and (not along_groups or not _is_vector(first)):
        return first
    if not all(map(_is_vector, scales)):
        raise ValueError("some of the int4 tensors to concatenate scale their activations")
    if along_groups:
        return torch.cat(scales, -1)
    if not all(torch.equal(scale, first) for scale in scales):
        raise ValueError("the int4 tensors to concatenate scale their activations differently")
    return first


def _is_vector(scale: Any) -> bool:
    return isinstance(scale, Tensor) and scale.numel() > 1
