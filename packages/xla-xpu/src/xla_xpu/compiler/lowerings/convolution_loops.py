"""Convolutions of any type and number of dimensions, as a kernel that loops for each result element."""

from __future__ import annotations

from xpu_runtime.codegen.affine import Affine, Coordinates, counters
from xpu_runtime.codegen.conversions import convert
from xpu_runtime.codegen.statements import Term

from ..emit import Emitter
from ..graph import Node
from ..lower import Lowerer
from .window_loops import Window, walk


def add_loops(lowerer: Lowerer, node: Node) -> None:
    """Add the kernel; integers wrap."""
    source, weights = node.inputs
    numbers, a = node.attributes["dimension_numbers"], node.attributes
    out, element = node.output, node.output.type.element
    spatial = len(out.shape) - 2
    features = weights.shape[numbers["kernel_input_feature_dimension"]]
    windows = [Window()] * len(source.shape)
    windows[numbers["input_feature_dimension"]] = Window(features)

    def listed(name: str, default: object) -> list:
        return list(a.get(name) or [default] * spatial)

    dims = zip(
        numbers["input_spatial_dimensions"],
        numbers["kernel_spatial_dimensions"],
        listed("window_strides", 1),
        listed("lhs_dilation", 1),
        listed("rhs_dilation", 1),
        listed("padding", (0, 0)),
        strict=True,
    )
    for dim, kernel, stride, base, dilation, (low, high) in dims:
        windows[dim] = Window(weights.shape[kernel], stride, base, dilation, low, high)

    def write(emitter: Emitter) -> list[str]:
        at = counters(out.shape)
        channel = at[numbers["output_feature_dimension"]]
        total = emitter.variable(element, f"({element.math})0")
        place = [Affine()] * len(source.shape)
        place[numbers["input_batch_dimension"]] = at[numbers["output_batch_dimension"]]
        for name, dim, size in (
            ("feature_group_count", "input_feature_dimension", features),
            (
                "batch_group_count",
                "input_batch_dimension",
                out.shape[numbers["output_batch_dimension"]],
            ),
        ):
            if (groups := a.get(name, 1)) > 1:
                each = out.shape[numbers["output_feature_dimension"]] // groups
                group = emitter.let("i64", f"({{0}}) / {each} * {size}", channel)
                place[numbers[dim]] = place[numbers[dim]] + Affine.of(group)
        for dim, output in zip(
            numbers["input_spatial_dimensions"], numbers["output_spatial_dimensions"], strict=True
        ):
            place[dim] = at[output]

        def visit(inside: Coordinates, within: Coordinates) -> None:
            where = [Affine()] * len(weights.shape)
            where[numbers["kernel_output_feature_dimension"]] = channel
            where[numbers["kernel_input_feature_dimension"]] = within[
                numbers["input_feature_dimension"]
            ]
            for dim, kernel, is_reversed in zip(
                numbers["input_spatial_dimensions"],
                numbers["kernel_spatial_dimensions"],
                listed("window_reversal", False),
                strict=True,
            ):
                offset = within[dim]
                where[kernel] = offset * -1 + (weights.shape[kernel] - 1) if is_reversed else offset
            pairs = ((source, inside), (weights, tuple(where)))
            x, w = (
                Term(convert(value.type.element, element, "{0}"), (emitter.value(value, place),))
                for value, place in pairs
            )
            emitter.set(total, Term(f"({element.math})({{0}} + {{1}} * {{2}})", (total, x, w)))

        walk(emitter, windows, source.shape, tuple(place), visit)
        return [total]

    lowerer.add_kernel(write, [lowerer.result(out)], [source, weights])
