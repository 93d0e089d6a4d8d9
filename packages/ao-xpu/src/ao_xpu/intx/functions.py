"""Products and look-ups of IntxPackedTensor, which read what is packed.

Under autograd a linear layer is two operators, the transpose and a product, and what it saves is packed.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from ..handlers import adds_columns, arguments_of_linear, linear_of_rows, scaled_sum
from ..linear_plans import Plan, plan_of
from .packed_linear import dequantize_packed, packed_plan


def linear(func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """Multiply by the rows of the weight."""
    input, weight, bias = arguments_of_linear(args, kwargs)
    needs_gradient = input.requires_grad or (bias is not None and bias.requires_grad)
    if torch.is_grad_enabled() and needs_gradient:
        return linear_of_rows(func, input, weight, bias)
    return _product(input, weight, bias)


def aten_linear(func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """Multiply by the rows of the weight, in inference mode."""
    return _product(*arguments_of_linear(args, kwargs))


def mm(func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """Multiply two matrices, of which one is packed."""
    return _multiply(None, *args)


def addmm(func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """Multiply two matrices, of which one is packed, and add another."""
    bias, *matrices = args
    if adds_columns(bias, kwargs):
        return _multiply(bias, *matrices)
    return scaled_sum(bias, _multiply(None, *matrices), kwargs)


def embedding(func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """Look rows up."""
    names = ("input", "weight", "padding_idx", "max_norm")
    given = dict(zip(names, args, strict=False)) | kwargs
    if given.get("max_norm") is not None:
        raise NotImplementedError("an embedding of a packed tensor changes no rows: max_norm")
    return _gather(given["weight"], given["input"])


def aten_embedding(func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """Look rows up; the operator has the weight first."""
    return _gather(args[0], args[1])


def _product(input: Tensor, weight: Any, bias: Tensor | None) -> Tensor:
    plan = plan_of(weight, _plan)
    if plan is None:
        return F.linear(input, weight.dequantize(input.dtype), bias)
    return plan(input, weight.qdata, bias)


def _plan(weight: Any) -> Plan | None:
    """Plan products by packed rows; None for columns and for a single row."""
    from torchao.quantization.quantize_.workflows.intx import intx_unpacked_to_int8_tensor

    data, scale, zero_point = weight.qdata, weight.scale, weight.zero_point
    if data.dim() != 2 or weight.packed_dim != 1:
        return None
    plan = packed_plan(weight.bits, scale, zero_point)
    if weight.activation_quantization is None:
        return plan
    if weight.activation_quantization != "int8_asym_per_token":
        raise NotImplementedError(f"activations of {weight.activation_quantization}")

    def multiply(input: Tensor, data: Tensor, bias: Tensor | None) -> Any:
        quantize = intx_unpacked_to_int8_tensor._apply_int8_act_asym_per_token_quant_dequant
        return plan(quantize(input) if input.numel() else input, data, bias)

    return multiply


def _multiply(bias: Tensor | None, a: Any, b: Any) -> Tensor:
    """Return ``a @ b``, plus a bias of the columns."""
    if _is_packed(a):
        a = a.dequantize(b.dtype)
    if _is_packed(b):
        if b.packed_dim == 0:
            return _product(a, b.t(), bias)
        b = b.dequantize(a.dtype)
    return torch.mm(a, b) if bias is None else torch.addmm(bias, a, b)


def _is_packed(matrix: Any) -> bool:
    return hasattr(matrix, "packed_dim")


def _gather(weight: Any, indices: Tensor) -> Tensor:
    """Return the elements of some rows, which are gathered before they are expanded."""
    data, bits, scale, zero_point = weight.rows()
    flat = indices.reshape(-1)
    data, scale, zero_point = (part.index_select(0, flat) for part in (data, scale, zero_point))
    elements = dequantize_packed(data, bits, scale, zero_point, weight.dtype)
    return elements.view(*indices.shape, weight.shape[1])
