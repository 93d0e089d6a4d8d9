"""Convolutions."""

from __future__ import annotations

from ..failures import Unsupported
from ..graph import Node
from ..lower import Lowerer, lowering
from ..plan import View, make_step


@lowering("convolution")
def convolution(lowerer: Lowerer, node: Node) -> None:
    """Dimensions are put in the order N C spatial by strides."""
    a = node.attributes
    numbers = a["dimension_numbers"]
    if a["batch_group_count"] != 1 or any(step != 1 for step in a["lhs_dilation"]):
        raise Unsupported(
            "a convolution with dilated input or groups in the batch is not supported on xpu"
        )
    source, weights = (lowerer.place(value) for value in node.inputs)
    out = lowerer.result(node.output)
    if not out.type.count:
        return
    source = _ordered(
        source,
        "input_batch_dimension",
        "input_feature_dimension",
        "input_spatial_dimensions",
        numbers,
    )
    weights = _ordered(
        weights,
        "kernel_output_feature_dimension",
        "kernel_input_feature_dimension",
        "kernel_spatial_dimensions",
        numbers,
    )
    result = _ordered(
        out,
        "output_batch_dimension",
        "output_feature_dimension",
        "output_spatial_dimensions",
        numbers,
    )
    for dim, turned in enumerate(a["window_reversal"]):
        if turned:
            weights = _turned(weights, dim + 2)
    if any(stride < 0 for stride in weights.strides):
        copy = lowerer.new(weights.type)
        lowerer.copy(copy, weights)
        weights = copy
    lowerer.add(
        make_step(
            "convolution",
            {"source": source, "weights": weights},
            {"result": result},
            kind="forward",
            stride=list(a["window_strides"]),
            padding_low=[low for low, _ in a["padding"]],
            padding_high=[high for _, high in a["padding"]],
            dilation=list(a["rhs_dilation"]),
            groups=a["feature_group_count"],
        )
    )


def _ordered(view: View, first: str, second: str, spatial: str, numbers: dict) -> View:
    dims = [numbers[first], numbers[second], *numbers[spatial]]
    return view.with_layout(
        tuple(view.shape[d] for d in dims), tuple(view.strides[d] for d in dims)
    )


def _turned(view: View, dim: int) -> View:
    strides = tuple(-s if d == dim else s for d, s in enumerate(view.strides))
    return view.with_layout(view.shape, strides, (view.shape[dim] - 1) * view.strides[dim])
