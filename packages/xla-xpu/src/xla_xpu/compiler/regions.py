"""C++ text of regions of scalars, such as the reducers of reductions."""

from __future__ import annotations

from collections.abc import Callable

from .elementwise import expression, literal
from .failures import Unsupported
from .graph import Graph, Value
from .splats import is_splat, splat
from .views import VIEWS


def reducer_of(region: Graph) -> str:
    """Return the one operation that a region applies to its two arguments; "" for other regions."""
    if len(region.nodes) != 1 or len(region.parameters) != 2:
        return ""
    (node,) = region.nodes
    if region.results == [node.output] and set(node.inputs) == set(region.parameters):
        return node.op
    return ""


def region_text(
    region: Graph, names: list[str], read: Callable[[Value], str] | None = None
) -> tuple[list[str], list[str]]:
    """Return a region's statements and the names of its results; ``names`` are those of its parameters."""
    known = dict(zip(region.parameters, names, strict=True))
    lines = []
    for number, node in enumerate(region.nodes):
        if is_splat(node.output):
            known[node.output] = literal(node.attributes["value"][0], node.output.type.element)
            continue
        arguments = []
        for value in node.inputs:
            if value not in known:
                known[value] = _outside(value, read)
            arguments.append(known[value])
        if node.op in VIEWS:
            known[node.output] = arguments[0]
            continue
        text = expression(node, arguments)
        known[node.output] = f"t{number}"
        lines.append(f"{node.output.type.element.math} t{number} = {text};")
    return lines, [known[v] if v in known else _outside(v, read) for v in region.results]


def as_expression(lines: list[str], result: str) -> str:
    """Return statements and their result as one expression, valid outside the library's namespace."""
    return f"({{ using namespace xpu; {' '.join(lines)} {result}; }})"


def _outside(value: Value, read: Callable[[Value], str] | None) -> str:
    number = splat(value)
    if number is not None:
        return literal(number, value.type.element)
    if read is None:
        raise Unsupported("a region that reads values from outside is not supported here")
    return read(value)
