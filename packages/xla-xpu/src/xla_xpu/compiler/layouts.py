"""Layouts of parameters and results, as ``mhlo.layout_mode`` requests them.

Inside the program every array is row-major: transposes at its ends convert, and cost nothing if the operation
next to them can read or write in that order.
"""

from __future__ import annotations

import re
from typing import Any

from jaxlib.mlir import ir

from .failures import Unsupported
from .graph import Graph, Node, Value
from .types import Type

# Dimensions from the slowest to the fastest one; None for row-major order.
Order = tuple[int, ...] | None
_AUTO, _DEFAULT = "auto", "default"
# May name the bits of an element of less than a byte, which takes a byte here.
_PLAIN = re.compile(r"\{([\d,]*)(?::E\(\d+\))?\}")


def arrange(graph: Graph, main: ir.Operation) -> tuple[list[Order], list[Order]]:
    """Give parameters and results of ``graph`` the orders that ``main`` requests; return the orders."""
    asked = _modes(main, "arg_attrs", len(graph.parameters))
    given = [None if mode == _AUTO else _order(mode) for mode in asked]
    asked = _modes(main, "res_attrs", len(graph.results))
    taken = [
        _best(value) if mode == _AUTO else _order(mode)
        for mode, value in zip(asked, graph.results, strict=True)
    ]
    for index, order in enumerate(given):
        if order is not None:
            _transpose_parameter(graph, index, order)
    for index, order in enumerate(taken):
        if order is not None:
            graph.results[index] = _transpose_result(graph, graph.results[index], order)
    return given, taken


def _modes(main: ir.Operation, attributes: str, count: int) -> list[str]:
    if attributes not in main.attributes:
        return [_DEFAULT] * count
    each = map(ir.DictAttr, ir.ArrayAttr(main.attributes[attributes]))
    key = "mhlo.layout_mode"
    return [ir.StringAttr(names[key]).value if key in names else _DEFAULT for names in each]


def _order(mode: str) -> Order:
    if mode == _DEFAULT:
        return None
    plain = _PLAIN.fullmatch(mode)
    if not plain:
        raise Unsupported(f"an argument or a result has layout {mode}; xpu has no tiled layouts")
    return _unless_row_major(tuple(map(int, filter(None, plain[1].split(","))))[::-1])


def _unless_row_major(order: tuple[int, ...]) -> Order:
    return None if order == tuple(range(len(order))) else order


def _best(value: Value) -> Order:
    """Return the order of a layout constraint, or that which makes a transpose free."""
    node = value.node
    if node is None:
        return None
    if node.op == "custom_call@LayoutConstraint":
        return _unless_row_major(tuple(node.attributes["result_layouts"][value.index])[::-1])
    if node.op == "transpose":
        permutation = node.attributes["permutation"]
        return _unless_row_major(tuple(permutation.index(dim) for dim in range(len(permutation))))
    return None


def _transpose_parameter(graph: Graph, index: int, order: tuple[int, ...]) -> None:
    value = graph.parameters[index]
    shape = tuple(value.shape[dim] for dim in order)
    parameter = Value(Type(value.type.element, shape), None, index)
    back = [order.index(dim) for dim in range(len(order))]
    node = Node("transpose", [parameter], [value.type], {"permutation": back})
    value.node, value.index, node.outputs = node, 0, [value]
    graph.parameters[index] = parameter
    graph.nodes.insert(0, node)


def _transpose_result(graph: Graph, value: Value, order: tuple[int, ...]) -> Value:
    shape = tuple(value.shape[dim] for dim in order)
    types: list[Any] = [Type(value.type.element, shape)]
    graph.nodes.append(Node("transpose", [value], types, {"permutation": list(order)}))
    return graph.nodes[-1].output
