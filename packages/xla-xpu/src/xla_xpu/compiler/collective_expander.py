"""Replace the collectives of graphs by the operations that are registered as their expansions."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from .graph import Graph, Node, Value
from .types import Type

Expansion = Callable[["Expander", Node], list[Value]]
EXPANSIONS: dict[str, Expansion] = {}


def expansion(name: str) -> Callable[[Expansion], Expansion]:
    """Register a function as the expansion of a collective."""

    def register(function: Expansion) -> Expansion:
        EXPANSIONS[name] = function
        return function

    return register


class Expander:
    """Expands the collectives of graphs, for a number of replicas and partitions."""

    def __init__(self, replicas: int, partitions: int) -> None:
        self.replicas, self.partitions = replicas, partitions
        self.replaced: dict[Value, Value] = {}
        self.nodes: list[Node] = []

    @property
    def devices(self) -> int:
        """Number of devices that run the program: one for each partition of each replica."""
        return self.replicas * self.partitions

    def graph(self, graph: Graph) -> None:
        """Replace the collectives of a graph, and of its regions."""
        outside, self.nodes = self.nodes, []
        for node in graph.nodes:
            node.inputs = [self.replaced.get(value, value) for value in node.inputs]
            if node.op in EXPANSIONS:
                results = EXPANSIONS[node.op](self, node)
                self.replaced.update(zip(node.outputs, results, strict=True))
                continue
            for region in node.regions:
                self.graph(region)
            self.nodes.append(node)
        graph.nodes, self.nodes = self.nodes, outside
        graph.results = [self.replaced.get(value, value) for value in graph.results]

    def add(self, op: str, inputs: list[Value], type: Type, **attributes: Any) -> Value:
        """Add a node and return its result."""
        self.nodes.append(Node(op, inputs, [type], attributes))
        return self.nodes[-1].output

    def reshape(self, value: Value, shape: tuple[int, ...]) -> Value:
        """Return the elements in another shape."""
        return self.add("reshape", [value], Type(value.type.element, shape))

    def transpose(self, value: Value, permutation: list[int]) -> Value:
        """Return the array with permuted dimensions."""
        shape = tuple(value.shape[dim] for dim in permutation)
        return self.add(
            "transpose", [value], Type(value.type.element, shape), permutation=permutation
        )

    def exchange(self, value: Value, sources: list[list[list[int]]], count: int) -> Value:
        """Exchange ``count`` pieces per device; a source is [device, index of a row of its ``value``]."""
        shape = (count, *value.shape[1:])
        return self.add("exchange", [value], Type(value.type.element, shape), sources=sources)

    def groups(self, node: Node) -> list[list[int]]:
        """Return the groups of devices of a collective, by their index in the program."""
        if "groups" in node.attributes:
            return list(node.attributes["groups"])
        given = [[i for i in row if i >= 0] for row in node.attributes["replica_groups"]]
        if "use_global_device_ids" in node.attributes:
            return given or [list(range(self.devices))]
        return self._flat(node, given)

    def _flat(self, node: Node, given: list[list[int]]) -> list[list[int]]:
        """Return groups of replicas or partitions as groups of devices."""
        within = range(self.partitions)
        if _channel(node) <= 0:
            groups = given or [list(range(self.replicas))]
            return [[r * self.partitions + p for r in group] for group in groups for p in within]
        if node.op in ("all_to_all", "collective_permute", "collective_broadcast"):
            groups = given or [list(within)]
            replicas = range(self.replicas)
            return [[r * self.partitions + p for p in group] for group in groups for r in replicas]
        groups = given or [list(range(self.replicas))]
        return [[r * self.partitions + p for r in group for p in within] for group in groups]

    def sources(
        self, groups: list[list[int]], piece: Callable[[int, int], int]
    ) -> list[list[list[int]]]:
        """Return the sources of each device: ``piece(own index, other's)`` of each in its group."""
        sources: list[list[list[int]]] = [[] for _ in range(self.devices)]
        for group in groups:
            for mine, device in enumerate(group):
                sources[device] = [[other, piece(mine, its)] for its, other in enumerate(group)]
        return sources


def _channel(node: Node) -> int:
    found = re.search(r"handle = (-?\d+)", str(node.attributes.get("channel_handle", "")))
    return int(found[1]) if found else 0
