"""BlockSparseTensor on xpu, which leaves out blocks of zeros."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ..handlers import Handler, arguments_of_linear


def block_product(stock: Any) -> Any:
    """Give the operator of sparse blocks a kernel on xpu: PyTorch's product, without Triton."""

    def multiply(
        x_padded: Tensor,
        crow_indices: Tensor,
        col_indices: Tensor,
        values: Tensor,
        rows: int,
        columns: int,
        bias: Tensor | None,
    ) -> Tensor:
        parts = crow_indices, col_indices, values
        return (
            torch.sparse_bsr_tensor(*parts, size=(rows, columns), check_invariants=False) @ x_padded
        )

    stock.register_kernel("xpu")(multiply)
    return stock


def block_linear(stock: Handler) -> Handler:
    """Multiply activations of any number of dimensions; torchao returns rows."""

    def handler(func: Any, classes: Any, args: Any, kwargs: Any) -> Any:
        input, weight, bias = arguments_of_linear(args, kwargs)
        if weight.device.type != "xpu":
            return stock(func, classes, args, kwargs)
        rows = input.reshape(-1, weight.shape[1])
        product = stock(func, classes, (rows, weight, bias), {})
        return product.reshape(*input.shape[:-1], weight.shape[0])

    return handler


def copy_blocks(stock: Handler) -> Handler:
    """Clone or move each part; the class has no copies."""

    def handler(func: Any, classes: Any, args: Any, kwargs: Any) -> Any:
        options = {key: value for key, value in kwargs.items() if key != "dtype"}

        def copied(part: Tensor) -> Tensor:
            is_float = part.is_floating_point()
            return func(part, **(kwargs if is_float else options))

        return args[0].apply_fn_to_shard(copied)

    return handler
