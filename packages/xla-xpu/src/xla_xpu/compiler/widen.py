"""Widen minifloats for the runtime's kernels, which have no such type.

Kernels that this package generates load and store minifloats themselves.
"""

from __future__ import annotations

from .graph import Graph, Node, Value
from .types import ELEMENTS, Element, Type

# Operations in which kernels of the runtime compute with elements.
_PRODUCTS = ("dot_general", "convolution")
_COMPUTED = (
    *_PRODUCTS,
    "reduce",
    "reduce_window",
    "select_and_scatter",
    "scatter",
    "sort",
    "composite@chlo.top_k",
    "custom_call@ApproxTopK",
)
_F32, _BF16 = ELEMENTS["f32"], ELEMENTS["bf16"]


def widen(graph: Graph) -> None:
    """Widen minifloats around all nodes that need it, including those of regions."""
    nodes: list[Node] = []
    for node in graph.nodes:
        small = any(value.type.element.foreign for value in (*node.inputs, *node.outputs))
        if small and node.op in _COMPUTED and not _replaces(node):
            nodes.extend(_widened(node))
        else:
            nodes.append(node)
            for region in node.regions:
                widen(region)
    graph.nodes = nodes


def _replaces(node: Node) -> bool:
    """Return True for a scatter that only copies elements."""
    return node.op == "scatter" and node.regions[0].results == node.regions[0].parameters[1:]


def _widened(node: Node) -> list[Node]:
    """Return the node with wider inputs and results, between conversions."""
    wider = _operand_of(node)
    before: list[Node] = []
    after: list[Node] = []
    for index, value in enumerate(node.inputs):
        if _fits(value.type.element, wider):
            before.append(_converted(value, wider))
            node.inputs[index] = before[-1].output
    for region in node.regions:
        for value in (*region.parameters, *(out for n in region.all_nodes() for out in n.outputs)):
            value.type = _wide(value.type, _F32)
    for index, small in enumerate(node.outputs):
        if small.type.element.foreign:
            node.outputs[index] = Value(_wide(small.type, _F32), node, index)
            back = Node("convert", [node.outputs[index]], [], where=node.where)
            back.outputs, small.node, small.index = [small], back, 0
            after.append(back)
    return [*before, node, *after]


def _operand_of(node: Node) -> Element:
    """Return the narrowest type that holds all operands: products of bf16 are the fastest."""
    elements = [value.type.element for value in node.inputs]
    narrow = all(element.size == 1 or element is _BF16 for element in elements)
    return _BF16 if node.op in _PRODUCTS and narrow else _F32


def _fits(element: Element, wider: Element) -> bool:
    return element.foreign or (wider is _BF16 and element.size == 1)


def _converted(value: Value, wider: Element) -> Node:
    type = _wide(value.type, wider)
    if value.node is not None and value.op == "constant":
        number = value.node.attributes["value"].astype(wider.numpy)
        return Node("constant", [], [type], {"value": number})
    return Node("convert", [value], [type])


def _wide(type: Type, wider: Element) -> Type:
    return Type(wider, type.shape) if _fits(type.element, wider) else type
