"""Rewrite single nodes into cheaper ones, before lowering."""

from __future__ import annotations

import math

import numpy as np

from .graph import Graph, Node
from .reducers import IDENTITIES, identity_of
from .regions import reducer_of
from .splats import splat

# One lane reduces up to this many elements, if there are at least this many results.
_SHORT, _MANY = 16, 4096


def simplify(graph: Graph) -> None:
    """Simplify all nodes, including those of regions."""
    for node in graph.all_nodes():
        if node.op == "reduce" and len(node.inputs) == 2:
            _reduce(node)
        elif node.op == "divide":
            _divide(node)
        elif node.op == "maximum":
            _maximum(node)


def _divide(node: Node) -> None:
    """Replace a division by a constant by a product with its reciprocal, as XLA's other backends do."""
    number, type = splat(node.inputs[1]), node.output.type
    if number is None or type.element.name not in ("f32", "f64"):
        return
    with np.errstate(all="ignore"):
        reciprocal = np.reciprocal(np.array([number], type.element.numpy))
    if np.isfinite(reciprocal[0]) and abs(reciprocal[0]) >= np.finfo(reciprocal.dtype).tiny:
        constant = Node("constant", [], [type], {"value": reciprocal})
        node.op, node.inputs = "multiply", [node.inputs[0], constant.output]


def _maximum(node: Node) -> None:
    """Replace a maximum of minus infinity and another number by the latter, as softmax's has one."""
    for bound, other in (node.inputs, reversed(node.inputs)):
        number = splat(bound) if bound.type.element.kind == "float" else None
        if number is not None and float(number) == -math.inf:
            node.op, node.inputs = "reshape", [other]
            return


def _reduce(node: Node) -> None:
    source, start = node.inputs
    reducer, number = reducer_of(node.regions[0]), splat(start)
    if reducer not in IDENTITIES or number is None:
        return
    count = math.prod(source.shape[dim] for dim in node.attributes["dimensions"])
    if count == 1 and number == identity_of(reducer, source.type.element):
        node.op, node.inputs, node.regions, node.attributes = "reshape", [source], [], {}
    elif 1 < count <= _SHORT and node.output.type.count >= _MANY:
        node.op = "short_reduce"
