"""Makes of a program over arrays of the whole the one that each device runs on its parts.

Every value of the whole is held as the parts of it in some layout; what a program computes never depends on
which one. Shardy's propagation says which layouts are wanted. What becomes of an operation is in the files
that register it here: ``alike`` has what holds for most.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..graph import Graph, Node, Value
from ..splats import is_splat
from ..types import ELEMENTS, Type
from .layout import Layout, Parts, count, groups, local_shape, refines, whole
from .meshes import Meshes, usable

Spread = Callable[["Spreader", Node], None]
SPREADS: dict[str, Spread] = {}
ANY = ""
"""The name of what is done with operations that nobody registers."""
_I32, _U32 = ELEMENTS["i32"], ELEMENTS["ui32"]


def spreads(*names: str) -> Callable[[Spread], Spread]:
    """Makes a function what becomes of the operations of these names."""

    def register(function: Spread) -> Spread:
        SPREADS.update(dict.fromkeys(names, function))
        return function

    return register


class Spreader:
    """The program of a device so far; ``scope`` numbers the places on axes that a region has to itself."""

    def __init__(self, meshes: Meshes) -> None:
        self.meshes = meshes
        self.scope = whole(meshes.partitions)
        self.at: dict[Value, tuple[Value, Layout]] = {}
        self.moved: dict[tuple[Value, Layout], Value] = {}
        self.choices: dict[tuple[int, ...], Value] = {}
        self.nodes: list[Node] = []

    def program(
        self,
        graph: Graph,
        given: list[Layout],
        wanted: list[Layout],
        summed: Sequence[Parts] = (),
        left: Sequence[Parts] = (),
    ) -> Graph:
        """The local graph of one whose parameters and results have these layouts.

        ``summed`` and ``left``: those that come, or go, as arrays still to be summed. Inside all are sums.
        """
        parameters = []
        for value, layout in zip(graph.parameters, given, strict=True):
            local = Value(self.type(value, layout), None, value.index)
            self.at[value] = (local, layout)
            parameters.append(local)
        outside, self.nodes = self.nodes, []
        # What a region makes for itself is not seen outside.
        moved, self.moved = self.moved, dict(self.moved)
        choices, self.choices = self.choices, dict(self.choices)
        for value, along in zip(graph.parameters, summed, strict=False):
            local, layout = self.at[value]
            self.at[value] = (self.sum_of(local, layout, along), layout)
        self.run(graph)
        results = [self.held(v, to) for v, to in zip(graph.results, wanted, strict=True)]
        if left:
            results = [self.summand(v, along) for v, along in zip(results, left, strict=True)]
        made, self.nodes = self.nodes, outside
        self.moved, self.choices = moved, choices
        return Graph(parameters, made, results)

    def run(self, graph: Graph) -> None:
        """Bring over a graph's nodes."""
        for node in graph.nodes:
            SPREADS.get(node.op, SPREADS[ANY])(self, node)

    # -- values

    def type(self, value: Value, layout: Layout) -> Type:
        """Of the part a device has of a value."""
        return Type(value.type.element, local_shape(value.shape, layout))

    def nothing(self, value: Value) -> Layout:
        """The layout of a value that every device has all of."""
        return (whole(self.meshes.partitions),) * len(value.shape)

    def fit(self, layout: Layout, value: Value) -> Layout:
        """As much of a layout as the value can have."""
        return usable(layout, value.shape, self.scope)

    def wanted(self, node: Node) -> list[Layout]:
        """What Shardy wants the results to be like."""
        attribute = node.attributes.get("sdy.sharding")
        if attribute is None or not node.outputs:
            return [self.nothing(value) for value in node.outputs]
        layouts = self.meshes.layouts(attribute)
        return [self.fit(layout, v) for layout, v in zip(layouts, node.outputs, strict=True)]

    def add(self, op: str, inputs: list[Value], type: Type, **attributes: Any) -> Value:
        """A node more; returns its result."""
        self.nodes.append(Node(op, inputs, [type], attributes))
        return self.nodes[-1].output

    def held(self, value: Value, target: Layout) -> Value:
        """The parts of a value in a layout; moves them when they are in another one."""
        local, layout = self.at[value]
        if layout == target:
            return local
        if (value, target) not in self.moved:
            self.moved[value, target] = self._move(local, layout, target)
        return self.moved[value, target]

    def sum_of(self, local: Value, layout: Layout, along: Parts) -> Value:
        """The sum of what devices with different numbers have."""
        if count(along) == 1:
            return local
        return self.combined(local, layout, [along], "add")

    def combined(self, result: Value, layout: Layout, sums: list[Parts], reducer: str) -> Value:
        """The same on all devices that have a part of each sum."""
        every = sums[0]
        for parts in sums[1:]:
            every = tuple(a * count(parts) + b for a, b in zip(every, parts, strict=True))
        scalar = Type(result.type.element, ())
        region = Graph([Value(scalar, None, 0), Value(scalar, None, 1)])
        region.nodes.append(Node(reducer, list(region.parameters), [scalar]))
        region.results = region.nodes[0].outputs
        same = (self.scope, *layout)
        node = Node(
            "all_reduce", [result], [result.type], {"groups": groups(same, every)}, [region]
        )
        self.nodes.append(node)
        return node.output

    def summand(self, local: Value, along: Parts) -> Value:
        """Arrays whose sum a value is: the first device of each sum has all of it, the others zeros."""
        if count(along) == 1:
            return local
        zero = self.add("constant", [], Type(_I32, ()), value=np.zeros(1, np.int32))
        number = self._choice(along)
        first = self.add(
            "compare", [number, zero], Type(ELEMENTS["i1"], ()), comparison_direction="EQ"
        )
        nothing = np.zeros(1, local.type.element.numpy)
        zeros = self.add("constant", [], local.type, value=nothing)
        return self.add("select", [first, local, zeros], local.type)

    def _move(self, local: Value, layout: Layout, target: Layout) -> Value:
        now = list(layout)
        for dim, (old, new) in enumerate(zip(layout, target, strict=True)):
            if refines(new, old):
                continue
            coarse = new if refines(old, new) else whole(self.meshes.partitions)
            local = self._gather(local, tuple(now), dim, coarse)
            now[dim] = coarse
        return local if tuple(now) == target else self._cut(local, tuple(now), target)

    def _gather(self, local: Value, layout: Layout, dim: int, coarse: Parts) -> Value:
        same = (self.scope, *layout[:dim], coarse, *layout[dim + 1 :])
        ratio = count(layout[dim]) // count(coarse)
        shape = list(local.shape)
        shape[dim] *= ratio
        return self.add(
            "all_gather",
            [local],
            Type(local.type.element, tuple(shape)),
            all_gather_dim=dim,
            groups=groups(same, layout[dim]),
        )

    def _cut(self, local: Value, layout: Layout, target: Layout) -> Value:
        sizes = tuple(
            size * count(old) // count(new)
            for size, old, new in zip(local.shape, layout, target, strict=True)
        )
        type = Type(local.type.element, sizes)
        if local.node and _same_everywhere(local):
            return self.add(local.op, local.node.inputs, type, **local.node.attributes)
        starts = [
            self._choice(tuple(part % (count(new) // count(old)) * size for part in new))
            for size, old, new in zip(sizes, layout, target, strict=True)
        ]
        return self.add("dynamic_slice", [local, *starts], type, slice_sizes=list(sizes))

    def _choice(self, numbers: tuple[int, ...]) -> Value:
        """The one of some numbers that is a device's own."""
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


def _same_everywhere(value: Value) -> bool:
    """Whether a part of a value is the same as another one, but for its size."""
    if value.op == "broadcast_in_dim":
        assert value.node
        return not value.node.inputs[0].shape
    return is_splat(value)
