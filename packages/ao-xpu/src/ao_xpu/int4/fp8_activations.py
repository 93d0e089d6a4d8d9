"""Activations of e4m3 for int4 weights: quantized by rows, and multiplied as bf16."""

from __future__ import annotations

import torch
from torch import Tensor

from ..linear_plans import Plan


def quantized_rows(input: Tensor) -> tuple[Tensor, Tensor]:
    """Return e4m3 activations as bf16, which holds them exactly, and the f32 scale of each row."""
    limit = torch.finfo(torch.float8_e4m3fn).max
    values = input.float()
    scale = values.abs().amax(-1, keepdim=True).clamp(min=1e-12) / limit
    rows = (values / scale).clamp(-limit, limit).to(torch.float8_e4m3fn)
    return rows.to(torch.bfloat16), scale


def scaled_rows(
    product: Tensor, row_scale: Tensor, bias: Tensor | None, dtype: torch.dtype
) -> Tensor:
    """Return the product of quantized rows in the type of the activations."""
    result = product * row_scale
    return (result if bias is None else result + bias).to(dtype)


def with_fp8_activations(plan: Plan, column_scale: Tensor | None = None) -> Plan:
    """Return a plan that quantizes activations first. The columns of the product have scales, or none."""

    def multiply(input: Tensor, data: Tensor, bias: Tensor | None) -> Tensor:
        rows, row_scale = quantized_rows(input)
        product = plan(rows, data, None)
        if column_scale is not None:
            product = product * column_scale
        return scaled_rows(product, row_scale, bias, input.dtype)

    return multiply
