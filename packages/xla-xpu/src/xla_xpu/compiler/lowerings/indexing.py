"""Reads and writes at places that the program computes."""

from __future__ import annotations

from typing import Any

from ..affine import Affine
from ..elementwise import headers_of
from ..emit import Emitter, clamped
from ..failures import Unsupported
from ..graph import Graph, Node, Value
from ..loops import Output
from ..lower import Lowerer, lowering
from ..plan import View, make_step
from ..regions import as_expression, reducer_of, region_text
from ..space import counters
from ..tasks import Goal
from ..types import ELEMENTS, Element, Type


@lowering("dynamic_update_slice", absorbs=True)
def dynamic_update_slice(lowerer: Lowerer, node: Node) -> None:
    """A copy, into which the update is written as it is computed; the copy goes where it can be spared."""
    operand, update, *starts = node.inputs
    source = lowerer.place(operand)
    out = lowerer.result(node.output)
    lowerer.copy(out, source)
    if not update.type.count:
        return
    window = out.with_layout(update.shape, out.strides)

    def write(emitter: Emitter) -> Output:
        shift = Affine()
        for start, size, whole, stride in zip(
            starts, update.shape, operand.shape, out.strides, strict=True
        ):
            if size == whole:
                continue
            number = emitter.value(start, ())
            name = emitter.define("i64", clamped(number, start.type.element, whole - size))
            shift = shift + Affine.of(name) * stride
        return Output(emitter.value(update, counters(update.shape)), window, shift)

    emitter, output = lowerer.emit(write, [update])
    lowerer.add_kernel(emitter, [output], [Goal(write, update.shape, lowerer.clock)])


def _places(lowerer: Lowerer, indices: Value) -> View:
    """Indices in a type that the runtime takes."""
    if indices.type.element.name == "ui64":
        wide = Type(ELEMENTS["i64"], indices.shape)
        indices = Node("convert", [indices], [wide]).output
    return lowerer.place(indices)


@lowering("gather")
def gather(lowerer: Lowerer, node: Node) -> None:
    """Windows of an array."""
    operand, indices = lowerer.place(node.inputs[0]), _places(lowerer, node.inputs[1])
    out = lowerer.result(node.output)
    if out.type.count:
        numbers = dict(node.attributes["dimension_numbers"])
        sizes = list(node.attributes["slice_sizes"])
        lowerer.add(
            make_step(
                "gather",
                {"in": operand, "indices": indices},
                {"out": out},
                slice_sizes=sizes,
                **numbers,
            )
        )


@lowering("scatter")
def scatter(lowerer: Lowerer, node: Node) -> None:
    """Windows brought to an array's copy, which goes where it can be spared."""
    if len(node.inputs) != 3:
        raise Unsupported("a scatter of several arrays at once is not supported on xpu")
    operand, indices, updates = node.inputs
    source, values = lowerer.place(operand), lowerer.place(updates)
    places = _places(lowerer, indices)
    out = lowerer.result(node.output)
    lowerer.copy(out, source)
    if not updates.type.count:
        return
    numbers = dict(node.attributes["scatter_dimension_numbers"])
    numbers["scatter_dims_to_operand_dims"] = numbers.pop("scattered_dims_to_operand_dims")
    step = make_step(
        "scatter",
        {"indices": places, "updates": values},
        {"out": out},
        deterministic=False,
        **_combiner(node.regions[0], operand.type.element),
        **numbers,
    )
    step.reads.append(out.buffer)
    lowerer.add(step)


# Reducers that the runtime has a combiner of.
_COMMON = ("add", "multiply", "minimum", "maximum")


def _combiner(region: Graph, element: Element) -> dict[str, Any]:
    """One of the runtime's, whose kernel may be there already, or an expression."""
    if region.results == region.parameters[1:]:
        return {"name": "replace"}
    if element.kind == "float" and reducer_of(region) in _COMMON:
        return {"name": reducer_of(region)}
    lines, (result,) = region_text(region, ["a", "b"])
    combine = as_expression(lines, result)
    headers = headers_of(combine, element.kind == "complex")
    return {"name": "xla", "combine": combine, "headers": headers}
