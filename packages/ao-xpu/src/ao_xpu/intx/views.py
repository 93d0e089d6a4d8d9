"""Views of IntxPackedTensor. Each shares memory with its base."""

from __future__ import annotations

import math
from typing import Any

from torch.utils._python_dispatch import return_and_correct_aliasing

from ..operators.bit_packing import UNIT


def slice_(func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """Slice rows, or columns in whole groups and whole bytes; `narrow` comes here too."""
    weight, given = args[0], list(args[1:])
    dim, begin, end, step = given + [0, None, None, 1][len(given) :]
    dim %= weight.dim()
    begin, end, step = slice(begin, end, step).indices(weight.shape[dim])
    if step != 1:
        raise NotImplementedError(f"a slice of a packed tensor with step {step}")
    end, block = max(begin, end), weight.block_size[dim]
    is_packed = dim == weight.packed_dim
    unit = math.lcm(block, UNIT) if is_packed else block
    if begin % unit or end % unit:
        raise ValueError(f"elements {begin} to {end} of a packed tensor are no groups of {unit}")
    # Numbers of `bits` bits, in bytes.
    bits = weight.bits if is_packed else 8
    data = weight.qdata.narrow(dim, begin * bits // 8, (end - begin) * bits // 8)
    parameters = [
        part.narrow(dim, begin // block, (end - begin) // block)
        for part in (weight.scale, weight.zero_point)
    ]
    view = _like(weight, [data, *parameters], weight.block_size, weight.packed_dim)
    return return_and_correct_aliasing(func, args, kwargs, view)


def transpose(func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """Transpose a matrix: `t()` and `transpose(0, 1)`."""
    weight = args[0]
    dims = [dim % weight.dim() for dim in args[1:]] or [0, 1]
    if weight.dim() != 2 or dims[0] == dims[1]:
        view = weight._apply_fn_to_data(lambda data: data.view_as(data))
    else:
        data = [part.t() for part in _parts(weight)]
        view = _like(weight, data, weight.block_size[::-1], 1 - weight.packed_dim)
    return return_and_correct_aliasing(func, args, kwargs, view)


def select(func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """Select a row."""
    weight, dim, index = args[0], args[1] % args[0].dim(), args[2]
    if dim == weight.packed_dim:
        raise NotImplementedError("a packed tensor selects no columns: dequantize it first")
    data = [part.select(dim, index) for part in _parts(weight)]
    view = _like(weight, data, (weight.block_size[weight.packed_dim],), 0)
    return return_and_correct_aliasing(func, args, kwargs, view)


def _parts(weight: Any) -> list[Any]:
    return [weight.qdata, weight.scale, weight.zero_point]


def _like(weight: Any, data: list[Any], block_size: Any, packed_dim: int) -> Any:
    attributes = (weight.dtype, weight.activation_quantization)
    return type(weight)(*data, weight.bits, block_size, packed_dim, *attributes)
