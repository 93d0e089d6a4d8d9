"""The partitioner: turns a program over whole arrays into the program that each device runs on its parts.

Each value has a local value in some sharding; the program's results never depend on which one. Shardy's
propagation requests shardings. Each operation has a partition rule; ``local_ops`` has that of most.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..graph import Graph, Node, Value
from ..splats import is_splat
from ..types import ELEMENTS, Type
from .meshes import Meshes, usable
from .sharding import (
    DimShardings,
    Parts,
    count,
    determines,
    groups,
    joint,
    local_shape,
    refines,
    unsharded,
)

PartitionRule = Callable[["Partitioner", Node], None]
PARTITION_RULES: dict[str, PartitionRule] = {}
ANY = ""
"""The name of the rule for operations without a rule of their own."""
_I32, _U32 = ELEMENTS["i32"], ELEMENTS["ui32"]


def partition_rule(*names: str) -> Callable[[PartitionRule], PartitionRule]:
    """Register a function as the partition rule of these operations."""

    def register(function: PartitionRule) -> PartitionRule:
        PARTITION_RULES.update(dict.fromkeys(names, function))
        return function

    return register


class Located(NamedTuple):
    """A value's local value with its sharding; ``unreduced``: which summand each device has."""

    local: Value
    sharding: DimShardings
    unreduced: Parts


class Partitioner:
    """The program of each device so far; ``scope`` numbers the positions on the manual axes of a region."""

    def __init__(self, meshes: Meshes) -> None:
        self.meshes = meshes
        self.scope = unsharded(meshes.partitions)
        self.reduced = unsharded(meshes.partitions)
        self.at: dict[Value, Located] = {}
        self.moved: dict[tuple[Value, DimShardings, Parts], Value] = {}
        self.choices: dict[tuple[int, ...], Value] = {}
        self.nodes: list[Node] = []

    def program(
        self,
        graph: Graph,
        given: list[DimShardings],
        wanted: list[DimShardings],
        given_unreduced: Sequence[Parts] = (),
        wanted_unreduced: Sequence[Parts] = (),
    ) -> Graph:
        """Return the local graph of one whose parameters and results have these shardings.

        ``given_unreduced`` and ``wanted_unreduced``: which summand of each a device has; empty for sums.
        """
        parameters = []
        given_unreduced = given_unreduced or [self.reduced] * len(given)
        wanted_unreduced = wanted_unreduced or [self.reduced] * len(wanted)
        for value, sharding, unreduced in zip(
            graph.parameters, given, given_unreduced, strict=True
        ):
            local = Value(self.type(value, sharding), None, value.index)
            self.at[value] = Located(local, sharding, unreduced)
            parameters.append(local)
        outside, self.nodes = self.nodes, []
        # Values that a region computes are not visible outside.
        moved, self.moved = self.moved, dict(self.moved)
        choices, self.choices = self.choices, dict(self.choices)
        self.run(graph)
        results = [
            self.reshard(value, sharding, unreduced)
            for value, sharding, unreduced in zip(
                graph.results, wanted, wanted_unreduced, strict=True
            )
        ]
        nodes, self.nodes = self.nodes, outside
        self.moved, self.choices = moved, choices
        return Graph(parameters, nodes, results)

    def run(self, graph: Graph) -> None:
        """Partition nodes by the rules of their operations; the rule ``ANY`` has those without one."""
        for node in graph.nodes:
            PARTITION_RULES.get(node.op, PARTITION_RULES[ANY])(self, node)

    # -- values

    def type(self, value: Value, sharding: DimShardings) -> Type:
        """Return the type of a device's part of a value."""
        return Type(value.type.element, local_shape(value.shape, sharding))

    def replicated(self, value: Value) -> DimShardings:
        """Return the sharding of a value that every device has completely."""
        return (unsharded(self.meshes.partitions),) * len(value.shape)

    def fit(self, sharding: DimShardings, value: Value) -> DimShardings:
        """Return the part of a sharding that divides the value evenly.

        The sharding of an array on one device has no dimensions: every device gets the array then.
        """
        if not sharding:
            return self.replicated(value)
        return usable(sharding, value.shape, self.scope)

    def requested_shardings(self, node: Node) -> list[DimShardings]:
        """Return the shardings that Shardy requests for the results."""
        attribute = node.attributes.get("sdy.sharding")
        if attribute is None or not node.outputs:
            return [self.replicated(value) for value in node.outputs]
        shardings = self.meshes.value_shardings(attribute)
        return [self.fit(sharding, v) for sharding, v in zip(shardings, node.outputs, strict=True)]

    def requested_summands(self, node: Node) -> list[Parts]:
        """Return which summand of each result a device shall have."""
        attribute = node.attributes.get("sdy.sharding")
        if attribute is None or not node.outputs:
            return [self.reduced for _ in node.outputs]
        return self.meshes.summands(attribute)

    def add(self, op: str, inputs: list[Value], type: Type, **attributes: Any) -> Value:
        """Add a node and return its result."""
        self.nodes.append(Node(op, inputs, [type], attributes))
        return self.nodes[-1].output

    def reshard(self, value: Value, target: DimShardings, unreduced: Parts | None = None) -> Value:
        """Return the local value in a sharding, or a summand of it; add the collectives that it needs."""
        local, sharding, now = self.at[value]
        wanted = self.reduced if unreduced is None else unreduced
        if sharding == target and _same_summands(now, wanted):
            return local
        key = (value, target, wanted)
        if key not in self.moved:
            self.moved[key] = self._reshard(self.at[value], target, wanted)
        return self.moved[key]

    def _reshard(self, now: Located, target: DimShardings, wanted: Parts) -> Value:
        local, sharding, unreduced = now
        if not determines(wanted, unreduced):  # some summands must be added
            left = wanted if determines(unreduced, wanted) else self.reduced
            local = self.combined(local, sharding, left, [unreduced], "add")
            unreduced = left
        local, sharding, unreduced = self._padded(local, sharding, unreduced, target, wanted)
        local = self._move(local, sharding, unreduced, target)
        return self._summand(local, unreduced, wanted)

    def combined(
        self,
        local: Value,
        sharding: DimShardings,
        unreduced: Parts,
        sums: list[Parts],
        reducer: str,
    ) -> Value:
        """Combine the parts of ``sums`` over devices that have the same part of ``unreduced``."""
        scalar = Type(local.type.element, ())
        region = Graph([Value(scalar, None, 0), Value(scalar, None, 1)])
        region.nodes.append(Node(reducer, list(region.parameters), [scalar]))
        region.results = region.nodes[0].outputs
        among = groups((self.scope, *sharding, unreduced), joint(*sums))
        node = Node("all_reduce", [local], [local.type], {"groups": among}, [region])
        self.nodes.append(node)
        return node.output

    def _padded(
        self,
        local: Value,
        sharding: DimShardings,
        unreduced: Parts,
        target: DimShardings,
        wanted: Parts,
    ) -> Located:
        """Turn parts along a dimension into summands: each device pads its part with zeros."""
        for dim, (old, new) in enumerate(zip(sharding, target, strict=True)):
            if old == new or not refines(old, new) or not determines(wanted, old):
                continue
            shape = list(local.shape)
            shape[dim] *= count(old) // count(new)
            zeros = self._zeros(Type(local.type.element, tuple(shape)))
            first = self._choice(unsharded(len(old)))
            starts = [first] * len(shape)
            ratio, size = count(old) // count(new), local.shape[dim]
            starts[dim] = self._choice(tuple(part % ratio * size for part in old))
            local = self.add("dynamic_update_slice", [zeros, local, *starts], zeros.type)
            sharding = (*sharding[:dim], new, *sharding[dim + 1 :])
            unreduced = joint(unreduced, old)
        return Located(local, sharding, unreduced)

    def _summand(self, local: Value, unreduced: Parts, wanted: Parts) -> Value:
        """Keep each summand on the first devices that have it, and set zeros on the others."""
        if determines(unreduced, wanted):
            return local
        first: dict[int, int] = {}
        for old, new in zip(unreduced, wanted, strict=True):
            first[old] = min(new, first.get(old, new))
        others = tuple(int(new != first[old]) for old, new in zip(unreduced, wanted, strict=True))
        zero = self._choice(self.reduced)
        keeps = self.add(
            "compare",
            [self._choice(others), zero],
            Type(ELEMENTS["i1"], ()),
            comparison_direction="EQ",
        )
        return self.add("select", [keeps, local, self._zeros(local.type)], local.type)

    def _zeros(self, type: Type) -> Value:
        return self.add("constant", [], type, value=np.zeros(1, type.element.numpy))

    def _move(
        self, local: Value, sharding: DimShardings, unreduced: Parts, target: DimShardings
    ) -> Value:
        now = list(sharding)
        for dim, (old, new) in enumerate(zip(sharding, target, strict=True)):
            if refines(new, old):
                continue
            coarse = new if refines(old, new) else unsharded(self.meshes.partitions)
            local = self._gather(local, tuple(now), unreduced, dim, coarse)
            now[dim] = coarse
        return local if tuple(now) == target else self._cut(local, tuple(now), target)

    def _gather(
        self, local: Value, sharding: DimShardings, unreduced: Parts, dim: int, coarse: Parts
    ) -> Value:
        same = (self.scope, unreduced, *sharding[:dim], coarse, *sharding[dim + 1 :])
        ratio = count(sharding[dim]) // count(coarse)
        shape = list(local.shape)
        shape[dim] *= ratio
        return self.add(
            "all_gather",
            [local],
            Type(local.type.element, tuple(shape)),
            all_gather_dim=dim,
            groups=groups(same, sharding[dim]),
        )

    def _cut(self, local: Value, sharding: DimShardings, target: DimShardings) -> Value:
        sizes = tuple(
            size * count(old) // count(new)
            for size, old, new in zip(local.shape, sharding, target, strict=True)
        )
        type = Type(local.type.element, sizes)
        if local.node and _same_everywhere(local):
            return self.add(local.op, local.node.inputs, type, **local.node.attributes)
        starts = [
            self._choice(tuple(part % (count(new) // count(old)) * size for part in new))
            for size, old, new in zip(sizes, sharding, target, strict=True)
        ]
        return self.add("dynamic_slice", [local, *starts], type, slice_sizes=list(sizes))

    def _choice(self, numbers: tuple[int, ...]) -> Value:
        """Return, on each device, its own one of these numbers."""
        if numbers not in self.choices:
            self.choices[numbers] = self._chosen(np.array(numbers, np.int32))
        return self.choices[numbers]

    def _chosen(self, numbers: np.ndarray) -> Value:
        if len(set(numbers)) == 1:
            return self.add("constant", [], Type(_I32, ()), value=numbers[:1])
        table = self.add("constant", [], Type(_I32, numbers.shape), value=numbers)
        number = self.add("partition_id", [], Type(_U32, ()))
        row = self.add("dynamic_slice", [table, number], Type(_I32, (1,)), slice_sizes=[1])
        return self.add("reshape", [row], Type(_I32, ()))


def _same_summands(one: Parts, other: Parts) -> bool:
    return determines(one, other) and determines(other, one)


def _same_everywhere(value: Value) -> bool:
    """Return True if parts of a value differ only in size."""
    if value.op == "broadcast_in_dim":
        assert value.node
        return not value.node.inputs[0].shape
    return is_splat(value)
