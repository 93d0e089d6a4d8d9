"""A program as a graph: nodes in topological order."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from .types import Type


class Value:
    """An array in the program: a result of a node, or a parameter (``node`` is None)."""

    __slots__ = ("index", "node", "type")

    def __init__(self, type: Type, node: Node | None, index: int) -> None:
        self.type, self.node, self.index = type, node, index

    @property
    def op(self) -> str:
        """Name of the operation that computes the value; "parameter" if none does."""
        return self.node.op if self.node else "parameter"

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of the dimensions, without the element type; empty for a scalar and a token."""
        return self.type.shape

    def __repr__(self) -> str:
        return f"{self.op}:{self.type}"


class Node:
    """An operation. ``attributes`` are Python values; ``where`` is the line of the user's program.

    ``mlir`` has the attributes of the imported operation, for exporting it again.
    """

    __slots__ = ("attributes", "inputs", "mlir", "op", "outputs", "regions", "where")

    def __init__(
        self,
        op: str,
        inputs: list[Value],
        types: list[Type],
        attributes: dict[str, Any] | None = None,
        regions: list[Graph] | None = None,
        where: str = "",
    ) -> None:
        self.op, self.inputs, self.where = op, inputs, where
        self.outputs = [Value(type, self, index) for index, type in enumerate(types)]
        self.attributes = attributes or {}
        self.mlir: dict[str, Any] = {}
        self.regions = regions or []
        if (nodes := getattr(_compiling, "nodes", None)) is not None:
            nodes.append(self)

    @property
    def output(self) -> Value:
        """First result: of most operations the only one. An operation without results has none."""
        return self.outputs[0]

    def reads(self) -> Iterator[Value]:
        """Yield the inputs, and the values that regions capture."""
        yield from self.inputs
        for region in self.regions:
            yield from region.captured()

    def __repr__(self) -> str:
        return f"{self.op}({', '.join(map(repr, self.inputs))})"


_compiling = threading.local()


@contextmanager
def break_cycles() -> Iterator[None]:
    """Break the reference cycles of nodes created in the block, so that they are freed at once.

    A node and its results refer to each other, so otherwise only Python's cyclic collector frees them.
    Affects only nodes of the calling thread.
    """
    outside, _compiling.nodes = getattr(_compiling, "nodes", None), []
    try:
        yield
    finally:
        for node in _compiling.nodes:
            node.inputs = node.outputs = node.regions = []
            node.attributes = {}
        _compiling.nodes = outside


@dataclass
class Graph:
    """A function or a region."""

    parameters: list[Value] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    results: list[Value] = field(default_factory=list)

    def captured(self) -> Iterator[Value]:
        """Yield the values of enclosing graphs that this one reads."""
        own = set(self.parameters)
        for node in self.nodes:
            own.update(node.outputs)
        for node in self.nodes:
            yield from (value for value in node.reads() if value not in own)
        yield from (value for value in self.results if value not in own)

    def all_nodes(self) -> Iterator[Node]:
        """Yield all nodes, including those of regions."""
        for node in self.nodes:
            yield node
            for region in node.regions:
                yield from region.all_nodes()

    def users(self) -> dict[Value, list[Node]]:
        """Return the nodes that read each value, in order; a node appears once per read."""
        users: dict[Value, list[Node]] = {}
        for node in self.nodes:
            for value in node.reads():
                users.setdefault(value, []).append(node)
        return users
