"""Lowerings of PyTorch's quantized linear layers and convolutions, ``torch.ops.onednn.q*``, for xpu.

The stock ones put the scales and zero points that are numbers into constants of the CPU, choose between
templates for the CPU, and add a product to a tensor in place, also to an input of the graph.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

# The position of the step's name after the summand of a linear layer.
_STEP = 6


def replace_lowerings(lowerings: dict[Any, Any]) -> dict[Any, Any]:
    """Replace the lowerings of the operators in Inductor's table, and return the table."""
    linear, convolution = torch.ops.onednn.qlinear_pointwise, torch.ops.onednn.qconv_pointwise
    sums = torch.ops.onednn.qconv2d_pointwise
    for targets, lower in (
        ((linear, linear.default, linear.tensor), _linear),
        ((linear.binary, linear.binary_tensor), _linear_and_sum),
        ((convolution, convolution.default, convolution.tensor), _convolution),
        ((sums.binary, sums.binary_tensor), _convolution_and_sum),
    ):
        for target in targets:
            lowerings[target] = lower(lowerings[target])
    return lowerings


def _on_xpu(lower: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of a stock lowering, whose place ``lower`` takes for inputs on xpu.

    ``lower`` gets the stock lowering, then its arguments; those of quantization are nodes on the device.
    """

    def replace(stock: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(stock)
        def lower_by_device(*args: Any) -> Any:
            x, x_scale, x_zp, weight, w_scale, w_zp, *rest = args
            device = x.get_device()
            if device.type != "xpu":
                return stock(*args)
            x_scale = _parameter(x_scale, torch.float32, device, "x_scale")
            x_zp = _zero_point(x_zp, device)
            w_zp = _weight_zero_point(w_zp, device)
            w_scale.realize()
            return lower(stock, x, x_scale, x_zp, weight, w_scale, w_zp, *rest)

        return lower_by_device

    return replace


@_on_xpu
def _linear(stock: Any, x: Any, x_scale: Any, x_zp: Any, weight: Any, *rest: Any) -> Any:
    from torch._inductor.ir import TensorBox
    from torch._inductor.mkldnn_ir import QLinearPointwisePT2E

    sizes = x.get_size()
    call = QLinearPointwisePT2E.create(_rows(x), x_scale, x_zp, weight, *rest)
    return _unfolded(TensorBox.create(call), sizes)


@_on_xpu
def _linear_and_sum(
    stock: Any,
    x: Any,
    x_scale: Any,
    x_zp: Any,
    weight: Any,
    w_scale: Any,
    w_zp: Any,
    other: Any,
    *rest: Any,
) -> Any:
    """Sums of floats have the form "add", which writes to a new tensor: ``other`` may be the caller's."""
    from torch._inductor.ir import ExternKernel, TensorBox
    from torch._inductor.mkldnn_ir import QLinearPointwiseBinaryPT2E

    sizes = x.get_size()
    arguments = list(rest)
    if arguments[_STEP] == "sum" and other.get_dtype().is_floating_point:
        arguments[_STEP] = "add"
    elif arguments[_STEP] == "sum" and _is_of_caller(other):
        other = _copy(other)
    other = ExternKernel.realize_input(_rows(other))
    call = QLinearPointwiseBinaryPT2E.create(
        _rows(x), x_scale, x_zp, weight, w_scale, w_zp, other, *arguments
    )
    return _unfolded(TensorBox.create(call), sizes)


@_on_xpu
def _convolution(stock: Any, *args: Any) -> Any:
    return stock(*args)


@_on_xpu
def _convolution_and_sum(
    stock: Any,
    x: Any,
    x_scale: Any,
    x_zp: Any,
    weight: Any,
    w_scale: Any,
    w_zp: Any,
    accum: Any,
    *rest: Any,
) -> Any:
    if _is_of_caller(accum):
        accum = _copy(accum)
    return stock(x, x_scale, x_zp, weight, w_scale, w_zp, accum, *rest)


def _rows(x: Any) -> Any:
    from torch._inductor.lowering import view

    sizes = x.get_size()
    return view(x, [-1, sizes[-1]]) if len(sizes) > 2 else x


def _unfolded(rows: Any, sizes: Any) -> Any:
    from torch._inductor.lowering import view

    return view(rows, [*sizes[:-1], rows.get_size()[-1]]) if len(sizes) > 2 else rows


def _copy(value: Any) -> Any:
    from torch._inductor.lowering import clone

    return clone(value)


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


def _zero_point(value: Any, device: torch.device) -> Any:
    """Return the input's zero point as a node: without elements if it is known to be 0.

    The operators then call oneDNN without one, for which it has more implementations.
    """
    from torch._inductor.virtualized import V

    if value is None or _known_number(value) == 0:
        none = torch.empty(0, dtype=torch.int32, device=device)
        return V.graph.add_tensor_constant(none, name="no_x_zp")
    return _parameter(value, torch.int32, device, "x_zp")


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
        value.realize()
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
