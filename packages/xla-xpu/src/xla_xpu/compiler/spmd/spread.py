"""Makes of a program over arrays of the whole the one that each device runs on its parts.

Every value of the whole is held as the parts of it in some layout; what a program computes never depends on
which one. Shardy's propagation says which layouts are wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jaxlib.mlir.dialects import sdy
from jaxlib.xla_client import HloSharding

from ...rules import inspection
from ...rules.callbacks import PARTS
from ..failures import Unsupported
from ..graph import Graph, Node, Value
from ..splats import is_splat
from ..types import ELEMENTS, TOKEN, Type
from . import custom
from .factors import factors_of
from .layout import Layout, Parts, count, groups, independent, local_shape, proto_of, refines, whole
from .meshes import Meshes, usable

Spread = Callable[["Spreader", Node], None]
_I32, _U32 = ELEMENTS["i32"], ELEMENTS["ui32"]


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
            _SPECIAL.get(node.op, _generic)(self, node)

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
        return _combined(self, local, layout, [along], "add")

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


def _generic(spreader: Spreader, node: Node) -> None:
    """An operation whose results' parts come of the operands' when those are spread alike."""
    factors = factors_of(node)
    wanted = spreader.wanted(node)
    chosen: dict[Any, Parts] = {}
    for names, layout in zip(factors.results, wanted, strict=True):
        for name, parts in zip(names, layout, strict=True):
            if name is not None:
                chosen.setdefault(name, parts)
    kept = tuple(chosen.values())
    for value, names in zip(node.inputs, factors.operands, strict=True):
        for name, parts in zip(names, spreader.at[value][1], strict=True):
            if isinstance(name, tuple) and count(parts) > 1 and name not in chosen:
                fits = independent((*kept, parts), spreader.scope)
                chosen[name] = parts if fits else whole(spreader.meshes.partitions)
                kept = (*kept, chosen[name])
    _drop_uneven(node, factors.operands, factors.results, chosen)

    def layout_of(value: Value, names: list[Any]) -> Layout:
        nothing = whole(spreader.meshes.partitions)
        return tuple(nothing if name is None else chosen.get(name, nothing) for name in names)

    inputs = [
        spreader.held(value, layout_of(value, names))
        for value, names in zip(node.inputs, factors.operands, strict=True)
    ]
    layouts = [layout_of(v, names) for v, names in zip(node.outputs, factors.results, strict=True)]
    types = [spreader.type(v, layout) for v, layout in zip(node.outputs, layouts, strict=True)]
    local = Node(
        node.op,
        inputs,
        types,
        _local_attributes(node, inputs, types),
        [_copied(spreader, region) for region in node.regions],
        node.where,
    )
    spreader.nodes.append(local)
    sums = [parts for name, parts in chosen.items() if isinstance(name, tuple) and count(parts) > 1]
    for value, result, layout in zip(node.outputs, local.outputs, layouts, strict=True):
        if sums:
            result = _combined(spreader, result, layout, sums, factors.reducer)
        spreader.at[value] = (result, layout)


def _drop_uneven(
    node: Node, operands: list[list[Any]], results: list[list[Any]], chosen: dict[Any, Parts]
) -> None:
    """What goes together may be of different sizes; all must be divided evenly."""
    for values, all_names in ((node.inputs, operands), (node.outputs, results)):
        for value, names in zip(values, all_names, strict=True):
            for size, name in zip(value.shape, names, strict=True):
                if name in chosen and size % count(chosen[name]):
                    chosen[name] = whole(len(chosen[name]))


def _local_attributes(node: Node, inputs: list[Value], types: list[Type]) -> dict[str, Any]:
    """Attributes that say sizes, of the parts."""
    attributes = {key: v for key, v in node.attributes.items() if key != "sdy.sharding"}
    if node.op == "slice":
        limits = zip(
            attributes["limit_indices"], node.inputs[0].shape, inputs[0].shape, strict=True
        )
        attributes["limit_indices"] = [
            min(limit, part) if limit == size else limit for limit, size, part in limits
        ]
    elif node.op == "dynamic_slice":
        attributes["slice_sizes"] = list(types[0].shape)
    elif node.op == "gather":
        sizes = zip(attributes["slice_sizes"], node.inputs[0].shape, inputs[0].shape, strict=True)
        attributes["slice_sizes"] = [
            part if taken == size else taken for taken, size, part in sizes
        ]
    return attributes


def _combined(
    spreader: Spreader, result: Value, layout: Layout, sums: list[Parts], reducer: str
) -> Value:
    """The same on all devices that have a part of each sum."""
    every = sums[0]
    for parts in sums[1:]:
        every = tuple(a * count(parts) + b for a, b in zip(every, parts, strict=True))
    scalar = Type(result.type.element, ())
    region = Graph([Value(scalar, None, 0), Value(scalar, None, 1)])
    region.nodes.append(Node(reducer, list(region.parameters), [scalar]))
    region.results = region.nodes[0].outputs
    same = (spreader.scope, *layout)
    node = Node("all_reduce", [result], [result.type], {"groups": groups(same, every)}, [region])
    spreader.nodes.append(node)
    return node.output


def _copied(spreader: Spreader, region: Graph) -> Graph:
    """A region of numbers, with what it takes from outside."""
    known = {value: Value(value.type, None, value.index) for value in region.parameters}

    def local(value: Value) -> Value:
        if value in known:
            return known[value]
        return spreader.held(value, spreader.nothing(value))

    made = Graph(list(known.values()))
    for node in region.nodes:
        copy = Node(
            node.op,
            [local(value) for value in node.inputs],
            [value.type for value in node.outputs],
            node.attributes,
            [_copied(spreader, inner) for inner in node.regions],
            node.where,
        )
        known.update(zip(node.outputs, copy.outputs, strict=True))
        made.nodes.append(copy)
    made.results = [local(value) for value in region.results]
    return made


def _constant(spreader: Spreader, node: Node) -> None:
    (wanted,) = spreader.wanted(node)
    layout = wanted if is_splat(node.output) else spreader.nothing(node.output)
    value = node.attributes["value"]
    local = spreader.add("constant", [], spreader.type(node.output, layout), value=value)
    spreader.at[node.output] = (local, layout)


def _move(spreader: Spreader, node: Node) -> None:
    """A sharding that the program asks for."""
    (value,) = node.inputs
    sharding = node.attributes.get("sharding") or node.attributes["out_sharding"]
    target = spreader.fit(spreader.meshes.layout(sharding), value)
    spreader.at[node.output] = (spreader.held(value, target), target)


def _identity(spreader: Spreader, node: Node) -> None:
    for value, output in zip(node.inputs, node.outputs, strict=True):
        spreader.at[output] = spreader.at[value]


def _loop(spreader: Spreader, node: Node) -> None:
    layouts = spreader.wanted(node)
    inputs = [spreader.held(v, layout) for v, layout in zip(node.inputs, layouts, strict=True)]
    condition, body = node.regions
    whether = [spreader.nothing(value) for value in condition.results]
    regions = [
        spreader.program(condition, layouts, whether),
        spreader.program(body, layouts, layouts),
    ]
    _control(spreader, node, inputs, layouts, regions)


def _branch(spreader: Spreader, node: Node) -> None:
    layouts = spreader.wanted(node)
    inputs = [spreader.held(value, spreader.nothing(value)) for value in node.inputs]
    regions = [spreader.program(region, [], layouts) for region in node.regions]
    _control(spreader, node, inputs, layouts, regions)


def _control(
    spreader: Spreader,
    node: Node,
    inputs: list[Value],
    layouts: list[Layout],
    regions: list[Graph],
) -> None:
    types = [spreader.type(v, layout) for v, layout in zip(node.outputs, layouts, strict=True)]
    local = Node(node.op, inputs, types, {}, regions, node.where)
    spreader.nodes.append(local)
    for value, result, layout in zip(node.outputs, local.outputs, layouts, strict=True):
        spreader.at[value] = (result, layout)


def _manual(spreader: Spreader, node: Node) -> None:
    """A shard_map: a region whose arrays are parts already, over the axes that it has to itself."""
    given, taken = node.attributes["in_shardings"], node.attributes["out_shardings"]
    manual = frozenset(sdy.ManualAxesAttr(node.attributes["manual_axes"]))
    (region,) = node.regions
    free = spreader.meshes.layouts(given, manual)
    unreduced = spreader.meshes.summands(given)
    for value, inner, outside, inside in zip(
        node.inputs, region.parameters, spreader.meshes.layouts(given), free, strict=True
    ):
        local = spreader.held(value, outside)
        fitting = spreader.type(inner, inside).shape == local.shape
        if not fitting:
            raise Unsupported(f"shard_map over an array {value.type} that its mesh does not divide")
        along = unreduced.pop(0)
        spreader.at[inner] = (spreader.summand(local, along), inside)
    outer = spreader.scope
    spreader.scope = spreader.meshes.scope([given, taken], manual, outer)
    spreader.run(region)
    results = [
        spreader.held(value, inside)
        for value, inside in zip(
            region.results, spreader.meshes.layouts(taken, manual), strict=True
        )
    ]
    spreader.scope = outer
    for value, result, layout, along in zip(
        node.outputs,
        results,
        spreader.meshes.layouts(taken),
        spreader.meshes.summands(taken),
        strict=True,
    ):
        spreader.at[value] = (spreader.sum_of(result, layout, along), layout)


def _callback(spreader: Spreader, node: Node) -> None:
    """A function of the host: for the parts of every device, or once, for all of them."""
    attribute = node.attributes.get("sdy.sharding")
    one = None if attribute is None else spreader.meshes.only_device(attribute)
    if PARTS in node.attributes["backend_config"]:
        inputs = [spreader.at[value][0] for value in node.inputs]
    else:
        inputs = [spreader.held(value, spreader.nothing(value)) for value in node.inputs]
    types = [value.type for value in node.outputs]
    call = Node(node.op, inputs, types, dict(node.attributes), where=node.where)
    spreader.nodes.append(call)
    results = call.outputs
    if one is not None:
        call.attributes["device"] = one
        others = [number for number in range(spreader.meshes.partitions) if number != one]
        results = [
            value
            if value.type.element is TOKEN
            else spreader.add("collective_broadcast", [value], value.type, groups=[[one, *others]])
            for value in call.outputs
        ]
    for value, result in zip(node.outputs, results, strict=True):
        spreader.at[value] = (result, spreader.nothing(value))


def _by_its_own_rule(spreader: Spreader, node: Node) -> None:
    """A function of the user's that brings the program of each device with it."""
    graph, given, taken = custom.partitioned(
        node,
        [spreader.at[value][1] for value in node.inputs],
        spreader.wanted(node),
        spreader.meshes.partitions,
    )
    parts = [spreader.held(value, to) for value, to in zip(node.inputs, given, strict=True)]
    known = dict(zip(graph.parameters, parts, strict=True))
    _replace(graph, known)
    spreader.nodes += graph.nodes
    for value, result, layout in zip(node.outputs, graph.results, taken, strict=True):
        spreader.at[value] = (result, layout)


def _replace(graph: Graph, known: dict[Value, Value]) -> None:
    """Other values in place of what a graph reads."""
    for node in graph.nodes:
        node.inputs = [known.get(value, value) for value in node.inputs]
        for region in node.regions:
            _replace(region, known)
    graph.results = [known.get(value, value) for value in graph.results]


def _inspect(spreader: Spreader, node: Node) -> None:
    """Tells a function how an array is spread; of the device's program nothing is left."""
    (value,) = node.inputs
    if count(spreader.scope) > 1:
        sharding = HloSharding.manual()
    else:
        sharding = HloSharding.from_proto(proto_of(spreader.at[value][1]))
    inspection.tell(int(node.attributes["backend_config"]), sharding)


def _refused(spreader: Spreader, node: Node) -> None:
    raise Unsupported(f"{node.op} in a program over several devices is not supported on xpu")


_SPECIAL: dict[str, Spread] = {
    "constant": _constant,
    "sdy.reshard": _move,
    "sdy.sharding_constraint": _move,
    "sdy.all_reduce": _move,
    "sdy.reduce_scatter": _move,
    "sdy.propagation_barrier": _identity,
    "sdy.sharding_group": lambda spreader, node: None,
    "while": _loop,
    "case": _branch,
    "if": _branch,
    "sdy.manual_computation": _manual,
    "custom_call@xpu_python_callback": _callback,
    f"custom_call@{inspection.TARGET}": _inspect,
    f"custom_call@{custom.TARGET}": _by_its_own_rule,
    "sdy.named_computation": _refused,
}
