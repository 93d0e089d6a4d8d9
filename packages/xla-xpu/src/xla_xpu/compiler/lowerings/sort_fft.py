"""Lowerings of sorts, top-k and Fourier transforms."""

from __future__ import annotations

import math

from ..elementwise import headers_of
from ..failures import Unsupported
from ..graph import Graph, Node, Value
from ..lower import Lowerer, lowering
from ..plan import make_step
from ..regions import rare_headers, region_expression
from ..splats import counted_dimension
from ..types import Type
from .complex_products import part_of


@lowering("sort")
def sort(lowerer: Lowerer, node: Node) -> None:
    """Sort by keys if the comparison is an ordinary one, otherwise with the comparison."""
    dim = node.attributes["dimension"]
    if not node.output.type.count:
        for value in node.outputs:
            lowerer.result(value)
        return
    order = _plain_order(node.regions[0])
    positions = (
        len(node.inputs) == 2
        and counted_dimension(node.inputs[1]) == dim
        and node.inputs[1].type.element.name in ("i32", "i64")
    )
    if not order or not (len(node.inputs) == 1 or positions):
        _by_comparison(lowerer, node, dim)
        return
    outs = [lowerer.result(value) for value in node.outputs]
    more = {"indices": outs[1]} if positions else {}
    step = make_step(
        "sort",
        {"in": lowerer.with_max_dims(node.inputs[0])},
        {"values": outs[0], **more},
        dim=dim,
        descending=order == "GT",
        total_order=False,
    )
    lowerer.add(step)


def _by_comparison(lowerer: Lowerer, node: Node, dim: int) -> None:
    """Add a sort with the program's comparison; complex numbers are sorted as two operands."""
    operands: list[Value] = []
    results: list[Value] = []
    names = []
    for value, output in zip(node.inputs, node.outputs, strict=True):
        element, at = value.type.element, len(operands)
        if element.kind != "complex":
            operands.append(value)
            results.append(output)
            names += [f"a{at}", f"b{at}"]
            continue
        part = Type(part_of(element), value.shape)
        operands += [Node(name, [value], [part]).output for name in ("real", "imag")]
        results += [Value(part, None, 0) for _ in range(2)]
        names += [f"{element.math}({side}{at}, {side}{at + 1})" for side in "ab"]
    views = [lowerer.with_max_dims(value) for value in operands]
    outs = [lowerer.result(value) for value in results]
    less = region_expression(node.regions[0], names)
    lowerer.add(
        make_step(
            "comparison_sort",
            {"in": views},
            {"out": outs},
            less=less,
            dim=dim,
            headers=headers_of(rare_headers(node.regions[0])),
        )
    )
    parts = iter(results)
    for output in node.outputs:
        if output.type.element.kind != "complex":
            next(parts)
            continue
        whole = Node("complex", [next(parts), next(parts)], [output.type]).output
        lowerer.copy(lowerer.result(output), lowerer.materialize(whole))


def _plain_order(region: Graph) -> str:
    """Return "LT" or "GT" if the comparison is that of the first operand's numbers; otherwise ""."""
    test = region.results[0].node
    if test is None or test.op != "compare":
        return ""
    direction = test.attributes["comparison_direction"]
    if direction not in ("LT", "GT"):
        return ""
    first, second = region.parameters[:2]
    element = first.type.element
    if element.kind in ("int", "uint", "bool") and test.inputs == [first, second]:
        return direction
    # JAX makes all zeros equal, and all NaNs equal and greatest, before it compares by bits.
    if element.kind != "float" or test.attributes.get("compare_type") != "TOTALORDER":
        return ""
    reads = [_canonical(value) for value in test.inputs]
    return direction if reads == [first, second] else ""


def _canonical(value: Value) -> Value | None:
    """Return the parameter to which selects with constants were applied."""
    while value.node is not None:
        if value.op != "select":
            return None
        value = value.node.inputs[2]
    return value


@lowering("composite@chlo.top_k")
def top_k(lowerer: Lowerer, node: Node) -> None:
    """Lower the largest elements along the last dimension."""
    _add_topk(lowerer, node, len(node.inputs[0].shape) - 1, largest=True)


@lowering("custom_call@ApproxTopK")
def approximate_top_k(lowerer: Lowerer, node: Node) -> None:
    """Lower to the exact top-k: no device has a faster approximation."""
    dim = node.attributes["mhlo.backend_config"]["reduction_dim"]
    (comparator,) = node.attributes["called_computations"]
    if len(node.inputs) != 4 or counted_dimension(node.inputs[1]) != dim:
        raise Unsupported("ApproxTopK is supported on xpu only for numbers with their positions")
    _add_topk(lowerer, node, dim, largest="_gt_" in comparator)


def _add_topk(lowerer: Lowerer, node: Node, dim: int, largest: bool) -> None:
    source = lowerer.with_max_dims(node.inputs[0])
    values, indices = (lowerer.result(value) for value in node.outputs)
    if values.type.count:
        views = {"values": values, "indices": indices}
        step = make_step("topk", {"in": source}, views, dim=dim, largest=largest)
        lowerer.add(step)


@lowering("fft")
def fft(lowerer: Lowerer, node: Node) -> None:
    """Transform one dimension after the other, a real one first, or last in an inverse."""
    kind, lengths = node.attributes["fft_type"], node.attributes["fft_length"]
    source = lowerer.with_max_dims(node.inputs[0])
    out = lowerer.result(node.output)
    if not out.type.count:
        return
    rank = len(out.shape)
    dims = list(range(rank - len(lengths), rank))
    inverse = kind in ("IFFT", "IRFFT")
    scale = 1 / math.prod(lengths) if inverse else 1.0
    # The transform with a real side is the last of an inverse, and the first of a forward one.
    order = dims if kind == "IRFFT" else dims[::-1]
    for number, dim in enumerate(order):
        last = number == len(order) - 1
        target = out if last or kind != "IRFFT" else lowerer.new(source.type)
        step = make_step("fft", {"in": source}, {"out": target}, dim=dim, inverse=inverse)
        step.fields["scale"] = scale if last else 1.0
        lowerer.add(step)
        source = target
