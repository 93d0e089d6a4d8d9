"""Casts of mxfp8 training on xpu, for which torchao has kernels of Triton and CUDA alone."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

BLOCK = 32


def cast_rows(stock: Any) -> Any:
    """Cast rows to e4m3 with a scale for each block; return elements and scales."""

    def cast(
        x: Tensor, inner_block_size: int = BLOCK, scaling_mode: str = "rceil"
    ) -> tuple[Tensor, Tensor]:
        if x.device.type != "xpu":
            return stock(x, inner_block_size, scaling_mode)
        return _cast(x, inner_block_size, scaling_mode)

    return cast


def cast_columns(stock: Any) -> Any:
    """Cast a matrix along its rows, its columns, or both; return elements, then scales, of each.

    As of torchao's kernel, the elements cast along columns are a transposed view, and what was not asked for
    is empty.
    """

    def cast(
        x: Tensor, rowwise: bool = False, colwise: bool = True, scaling_mode: str = "rceil"
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        if x.device.type != "xpu":
            return stock(x, rowwise, colwise, scaling_mode)
        nothing = x.new_empty(0), x.new_empty(0)
        rows = _cast(x, BLOCK, scaling_mode) if rowwise else nothing
        columns = _cast(x.t(), BLOCK, scaling_mode) if colwise else nothing
        return rows[0], columns[0].t(), rows[1], columns[1]

    return cast


def _cast(x: Tensor, block: int, mode: str) -> tuple[Tensor, Tensor]:
    from torchao.prototype.mx_formats.config import ScaleCalculationMode
    from torchao.prototype.mx_formats.mx_tensor import to_mx

    scaling = ScaleCalculationMode(mode)
    scale, elements = to_mx(x.contiguous(), torch.float8_e4m3fn, block, scaling)
    return elements, scale
