"""Lowerings of PyTorch's quantized linear layers and convolutions, ``torch.ops.onednn.q*``, for xpu.

The stock ones put the scales and zero points that are numbers into constants of the CPU, and add a product to
a tensor in place, also to an input of the graph.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

_UNARY = ("qlinear_pointwise", "qconv_pointwise")
_BINARY = (
    ("qlinear_pointwise", "binary"),
    ("qlinear_pointwise", "binary_tensor"),
    ("qconv2d_pointwise", "binary"),
    ("qconv2d_pointwise", "binary_tensor"),
)


def replace_lowerings(lowerings: dict[Any, Any]) -> dict[Any, Any]:
    """Replace the lowerings of the operators in Inductor's table, and return the table."""
    namespace = torch.ops.onednn
    for name in _UNARY:
        packet = getattr(namespace, name)
        for target in (packet, *(getattr(packet, overload) for overload in ("default", "tensor"))):
            lowerings[target] = _on_device(lowerings[target])
    for name, overload in _BINARY:
        target = getattr(getattr(namespace, name), overload)
        replaced = _on_device(lowerings[target])
        lowerings[target] = _without_aliases(replaced, name == "qlinear_pointwise")
    return lowerings


def _on_device(stock: Callable[..., Any]) -> Callable[..., Any]:
    """Return the lowering with all quantization parameters in constants of the input's device."""

    @functools.wraps(stock)
    def lower(
        x: Any, x_scale: Any, x_zp: Any, weight: Any, w_scale: Any, w_zp: Any, *rest: Any
    ) -> Any:
        device = x.get_device()
        if device.type == "xpu":
            x_scale = _parameter(x_scale, torch.float32, device, "x_scale")
            x_zp = _parameter(0 if x_zp is None else x_zp, torch.int32, device, "x_zp")
            w_zp = _weight_zero_point(w_zp, device)
        return stock(x, x_scale, x_zp, weight, w_scale, w_zp, *rest)

    return lower


def _without_aliases(stock: Callable[..., Any], is_linear: bool) -> Callable[..., Any]:
    """Return the lowering of a binary form that writes to no tensor of the graph's caller.

    A linear layer has the form "add" for that. A convolution gets a copy.
    """
    place = 12 if is_linear else 16

    @functools.wraps(stock)
    def lower(*args: Any) -> Any:
        x, other, step = args[0], args[6], args[place + 1]
        if x.get_device().type != "xpu" or step != "sum":
            return stock(*args)
        changed = list(args)
        if is_linear and other.get_dtype().is_floating_point:
            changed[place + 1] = "add"
        elif _is_of_caller(other):
            from torch._inductor.lowering import clone

            changed[6] = clone(other)
        return stock(*changed)

    return lower


def _is_of_caller(value: Any) -> bool:
    from torch._inductor import ir

    value.realize()
    node = ir.InputsKernel.unwrap_storage_for_input(value)
    while isinstance(node, (ir.BaseView, ir.MutableBox)):
        node = node.data
    return isinstance(node, ir.InputBuffer)


def _parameter(value: Any, dtype: torch.dtype, device: torch.device, name: str) -> Any:
    """Return a scale or zero point as a node of the device without dimensions."""
    from torch._inductor.ir import IRNode
    from torch._inductor.lowering import to_dtype, view
    from torch._inductor.virtualized import V

    known = _known_number(value)
    if known is not None:
        return V.graph.add_tensor_constant(
            torch.tensor(known, dtype=dtype, device=device), name=name
        )
    assert isinstance(value, IRNode)
    return view(to_dtype(value, dtype), [])


def _known_number(value: Any) -> float | None:
    from torch._inductor.lowering import get_constant_value

    if isinstance(value, (int, float)):
        return value
    constant = get_constant_value(value)
    return None if constant is None else constant.value


def _weight_zero_point(value: Any, device: torch.device) -> Any:
    """Return a zero on the device; a zero point that is no constant stays, for the operator to check."""
    from torch._inductor import ir
    from torch._inductor.virtualized import V

    if value is not None and _known_number(value) != 0:
        buffer = ir.InputsKernel.unwrap_storage_for_input(value)
        if not isinstance(buffer, ir.ConstantBuffer):
            return value
        if V.graph.constants[buffer.get_name()].any():
            raise NotImplementedError(
                "weights with zero points other than 0 on xpu: quantize them symmetrically"
            )
    return V.graph.add_tensor_constant(
        torch.tensor(0, dtype=torch.int32, device=device), name="w_zp"
    )
