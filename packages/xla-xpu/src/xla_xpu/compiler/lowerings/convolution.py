"""Lowering of convolutions: to the runtime's, forward or as a gradient, otherwise to a loop kernel."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from ..graph import Node, Value
from ..lower import Lowerer, lowering
from ..plan import View, make_step
from ..types import ELEMENTS, Element, Type
from .complex_products import of_parts
from .convolution_loops import add_loops

# Element types and numbers of spatial dimensions that the runtime supports.
_FLOATS = ("f16", "bf16", "f32", "f64")
_MAX_DIMENSIONS = 3


@dataclass(frozen=True)
class Convolution:
    """Views in the order N C spatial, O I spatial and N O spatial; lists are by spatial dimension."""

    source: View
    weights: View
    result: View
    stride: list[int]
    low: list[int]
    high: list[int]
    base: list[int]
    dilation: list[int]
    groups: int
    batch_groups: int


@lowering("convolution")
def convolution(lowerer: Lowerer, node: Node) -> None:
    """Choose a form by the types of the operands, then by what is dilated."""
    out = node.output.type
    if not out.count:
        lowerer.result(node.output)
    elif not all(value.type.count for value in node.inputs):
        _zero(lowerer, lowerer.result(node.output))
    elif out.element.kind == "complex":
        of_parts(lowerer, node, convolution)
    elif out.element.kind != "float" or len(out.shape) - 2 > _MAX_DIMENSIONS:
        add_loops(lowerer, node)
    else:
        element = out.element if out.element.name in _FLOATS else ELEMENTS["f32"]
        result = Value(Type(element, out.shape), None, 0)
        view = lowerer.result(node.output) if element == out.element else lowerer.result(result)
        _add(lowerer, _read(lowerer, node, element, view))
        if element != out.element:
            rounded = Node("convert", [result], [out]).output
            lowerer.views[node.output] = lowerer.materialize(rounded)


def _read(lowerer: Lowerer, node: Node, element: Element, out: View) -> Convolution:
    a, spatial = node.attributes, len(out.shape) - 2
    numbers = a["dimension_numbers"]

    def ordered(view: View, *names: str) -> View:
        dims = [numbers[names[0]], numbers[names[1]], *numbers[names[2]]]
        shape, strides = ([of[d] for d in dims] for of in (view.shape, view.strides))
        if not spatial:  # the runtime needs one
            shape, strides = [*shape, 1], [*strides, 1]
        return view.with_layout(tuple(shape), tuple(strides))

    def listed(name: str, default: Any) -> list:
        return list(a.get(name) or [default] * spatial) or [default]

    source, weights = (_as(lowerer, lowerer.materialize(value), element) for value in node.inputs)
    weights = ordered(
        weights,
        "kernel_output_feature_dimension",
        "kernel_input_feature_dimension",
        "kernel_spatial_dimensions",
    )
    for dim, is_reversed in enumerate(listed("window_reversal", False)):
        if is_reversed:
            weights = _reverse(weights, dim + 2)
    padding = listed("padding", (0, 0))
    return Convolution(
        ordered(
            source, "input_batch_dimension", "input_feature_dimension", "input_spatial_dimensions"
        ),
        weights,
        ordered(
            out, "output_batch_dimension", "output_feature_dimension", "output_spatial_dimensions"
        ),
        listed("window_strides", 1),
        [low for low, _ in padding],
        [high for _, high in padding],
        listed("lhs_dilation", 1),
        listed("rhs_dilation", 1),
        a.get("feature_group_count", 1),
        a.get("batch_group_count", 1),
    )


def _add(lowerer: Lowerer, c: Convolution) -> None:
    dilated = any(step != 1 for step in c.base)
    large = math.prod(c.weights.shape[2:]) > math.prod(c.result.shape[2:])
    if not dilated and c.groups == 1 and large:
        _add_weights_gradient(lowerer, c)
        return
    if c.batch_groups != 1:
        c = _group_by_features(lowerer, c)
    if not dilated:
        _add_forward(lowerer, c)
    elif all(step == 1 for step in c.stride):
        _add_data_gradient(lowerer, c)
    else:
        _add_forward(lowerer, _dilate(lowerer, c))


def _add_forward(lowerer: Lowerer, c: Convolution) -> None:
    cropped = _crop(c)
    if cropped is None:
        _zero(lowerer, c.result)
        return
    source, low, high = cropped
    _step(
        lowerer, "forward", source, c.weights, c.result, c.stride, low, high, c.dilation, c.groups
    )


def _crop(c: Convolution) -> tuple[View, list[int], list[int]] | None:
    """Return the source without the elements that negative padding removes; None if none is left."""
    start, shape = [0, 0], list(c.source.shape[:2])
    for size, low, high in zip(c.source.shape[2:], c.low, c.high, strict=True):
        start.append(max(0, -low))
        shape.append(size - max(0, -low) - max(0, -high))
    if min(shape) <= 0:
        return None
    padding = [[max(0, n) for n in side] for side in (c.low, c.high)]
    return c.source.slice(tuple(start), tuple(shape)), padding[0], padding[1]


def _add_weights_gradient(lowerer: Lowerer, c: Convolution) -> None:
    """Lower a small result of large weights as a gradient of weights: exchange batch and features."""
    source, grad = _swapped(c.source), _swapped(c.weights)
    start, shape, high = [0, 0], list(source.shape[:2]), []
    for size, low, count, step, window, dilation in zip(
        source.shape[2:],
        c.low,
        grad.shape[2:],
        c.dilation,
        c.result.shape[2:],
        c.stride,
        strict=True,
    ):
        begin = max(0, -low)
        reach = (count - 1) * step + (window - 1) * dilation + 1 - max(0, low)
        start.append(begin)
        shape.append(min(size - begin, reach))
        high.append(reach - shape[-1])
    if min(shape) <= 0:
        _zero(lowerer, c.result)
        return
    _step(
        lowerer,
        "backward_weights",
        source.slice(tuple(start), tuple(shape)),
        _swapped(c.result),
        grad,
        c.dilation,
        [max(0, low) for low in c.low],
        high,
        c.stride,
        c.batch_groups,
    )


def _group_by_features(lowerer: Lowerer, c: Convolution) -> Convolution:
    """Turn groups of the batch into groups of features."""
    groups = c.batch_groups
    batch, features, *sizes = c.source.shape
    split = c.source.with_layout(
        (batch // groups, groups, features, *sizes),
        (
            c.source.strides[0],
            c.source.strides[0] * (batch // groups),
            *c.source.strides[1:],
        ),
    )
    copy = lowerer.new(split.type)
    lowerer.copy(copy, split)
    joined = Type(copy.element, (batch // groups, groups * features, *sizes))
    return replace(
        c,
        source=copy.with_layout(joined.shape, joined.strides),
        groups=groups,
        batch_groups=1,
    )


def _add_data_gradient(lowerer: Lowerer, c: Convolution) -> None:
    """Lower a convolution of a dilated source as the data gradient of a strided one."""
    weights = c.weights
    for dim in range(2, len(weights.shape)):
        weights = _reverse(weights, dim)
    weights = _exchange_features(lowerer, weights, c.groups)
    start, shape, low, high = [0, 0], list(c.result.shape[:2]), [], []
    for size, step, before, count, window, dilation in zip(
        c.source.shape[2:],
        c.base,
        c.low,
        c.result.shape[2:],
        weights.shape[2:],
        c.dilation,
        strict=True,
    ):
        extent = (window - 1) * dilation + 1
        room = extent - 1 - before  # of padding; if negative, this many elements get no gradient
        start.append(max(0, -room))
        low.append(max(0, room))
        reach = (size - 1) * step + extent - low[-1]
        shape.append(min(count - start[-1], reach))
        high.append(reach - shape[-1])
    if min(shape) <= 0:
        _zero(lowerer, c.result)
        return
    if tuple(shape) != c.result.shape:
        _zero(lowerer, c.result)
    inner = c.result.slice(tuple(start), tuple(shape))
    _step(
        lowerer, "backward_data", inner, weights, c.source, c.base, low, high, c.dilation, c.groups
    )


def _exchange_features(lowerer: Lowerer, weights: View, groups: int) -> View:
    """Exchange inputs and outputs within each group."""
    if groups == 1:
        return _swapped(weights)
    outputs, inputs, *sizes = weights.shape
    each = outputs // groups
    split = weights.with_layout(
        (groups, inputs, each, *sizes),
        (weights.strides[0] * each, weights.strides[1], weights.strides[0], *weights.strides[2:]),
    )
    copy = lowerer.new(split.type)
    lowerer.copy(copy, split)
    joined = Type(copy.element, (groups * inputs, each, *sizes))
    return copy.with_layout(joined.shape, joined.strides)


def _dilate(lowerer: Lowerer, c: Convolution) -> Convolution:
    """Copy the source with zeros between its elements."""
    shape = c.source.shape
    interior = [0, 0, *(step - 1 for step in c.base)]
    sizes = tuple((n - 1) * (gap + 1) + 1 for n, gap in zip(shape, interior, strict=True))
    out = lowerer.new(Type(c.source.element, sizes))
    _zero(lowerer, out)
    strides = tuple(s * (gap + 1) for s, gap in zip(out.strides, interior, strict=True))
    lowerer.copy(out.with_layout(shape, strides), c.source)
    return replace(c, source=out, base=[1] * len(c.base))


def _step(
    lowerer: Lowerer,
    kind: str,
    source: View,
    weights: View,
    result: View,
    stride: list[int],
    low: list[int],
    high: list[int],
    dilation: list[int],
    groups: int,
) -> None:
    views = {"source": source, "weights": weights, "result": result}
    target = {"forward": "result", "backward_data": "source", "backward_weights": "weights"}[kind]
    for name, view in views.items():
        if name != target and any(s < 0 for s in view.strides):
            views[name] = lowerer.new(view.type)
            lowerer.copy(views[name], view)
    written = {target: views.pop(target)}
    lowerer.add(
        make_step(
            "convolution",
            views,
            written,
            kind=kind,
            stride=stride,
            padding_low=low,
            padding_high=high,
            dilation=dilation,
            groups=groups,
        )
    )


def _zero(lowerer: Lowerer, view: View) -> None:
    lowerer.fill(view.element.numpy.type(0), view)


def _as(lowerer: Lowerer, view: View, element: Element) -> View:
    if view.element == element:
        return view
    copy = lowerer.new(Type(element, view.shape))
    lowerer.copy(copy, view)
    return copy


def _swapped(view: View) -> View:
    def swap(of: tuple[int, ...]) -> tuple[int, ...]:
        return (of[1], of[0], *of[2:])

    return view.with_layout(swap(view.shape), swap(view.strides))


def _reverse(view: View, dim: int) -> View:
    strides = tuple(-s if d == dim else s for d, s in enumerate(view.strides))
    return view.with_layout(view.shape, strides, (view.shape[dim] - 1) * view.strides[dim])
