"""Statements of regions of scalars, such as the reducers of reductions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xpu_runtime.codegen.literals import literal
from xpu_runtime.codegen.render import Renderer
from xpu_runtime.codegen.statements import Let, Operand

from .elementwise import expression, header_of
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


def rare_headers(region: Graph) -> set[str]:
    """Return the rare headers of a region's element types and functions."""
    nodes = list(region.all_nodes())
    values = [*region.parameters, *(out for node in nodes for out in node.outputs)]
    return {value.type.element.header for value in values} | set(map(header_of, nodes))


def region_statements(
    region: Graph, names: Sequence[Operand], read: Callable[[Value], Operand] | None = None
) -> tuple[list[Let], list[Operand]]:
    """Return a region's statements and its results; ``names`` are those of its parameters."""
    known = dict(zip(region.parameters, names, strict=True))
    statements = []
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
        value = expression(node, arguments)
        known[node.output] = f"t{number}"
        statements.append(Let(f"t{number}", node.output.type.element.math, value))
    return statements, [known[v] if v in known else _outside(v, read) for v in region.results]


def region_expression(region: Graph, names: Sequence[str]) -> str:
    """Return a region of one result as a C++ expression, valid outside the library's namespace."""
    statements, (result,) = region_statements(region, names)
    return as_expression(result, statements)


def as_expression(result: Operand, statements: Sequence[Let] = ()) -> str:
    """Return statements and their result as one expression, valid outside the library's namespace."""
    renderer = Renderer()
    lines = " ".join(renderer.lines(statements))
    return f"({{ using namespace xpu; {lines} {renderer.operand(result)}; }})"


def _outside(value: Value, read: Callable[[Value], Operand] | None) -> Operand:
    number = splat(value)
    if number is not None:
        return literal(number, value.type.element)
    if read is None:
        raise Unsupported("a region that reads values from outside is not supported here")
    return read(value)
