"""Operations whose results' parts come of the operands' when those are spread alike."""

from __future__ import annotations

from typing import Any

from ..graph import Graph, Node, Value
from ..types import Type
from .factors import factors_of
from .layout import Layout, Parts, count, determines, independent, joint, whole
from .linear import summed_operands
from .spread import ANY, Located, Spreader, spreads


@spreads(ANY)
def alike(spreader: Spreader, node: Node) -> None:
    """An operation whose results' parts come of the operands' when those are spread alike."""
    factors = factors_of(node)
    wanted = spreader.wanted(node)
    chosen: dict[Any, Parts] = {}
    for names, layout in zip(factors.results, wanted, strict=True):
        for name, parts in zip(names, layout, strict=True):
            if name is not None:
                chosen.setdefault(name, parts)
    unreduced = _unreduced_of_operands(spreader, node)
    summand = joint(spreader.reduced, *unreduced)
    kept = (*chosen.values(), summand)
    for value, names in zip(node.inputs, factors.operands, strict=True):
        for name, parts in zip(names, spreader.at[value].layout, strict=True):
            if isinstance(name, tuple) and count(parts) > 1 and name not in chosen:
                fits = independent((*kept, parts), spreader.scope)
                chosen[name] = parts if fits else whole(spreader.meshes.partitions)
                kept = (*kept, chosen[name])
    _drop_uneven(node, factors.operands, factors.results, chosen)

    def layout_of(value: Value, names: list[Any]) -> Layout:
        nothing = whole(spreader.meshes.partitions)
        return tuple(nothing if name is None else chosen.get(name, nothing) for name in names)

    inputs = [
        spreader.held(value, layout_of(value, names), summand)
        for value, names, summand in zip(node.inputs, factors.operands, unreduced, strict=True)
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
    local.mlir = node.mlir
    spreader.nodes.append(local)
    sums = [parts for name, parts in chosen.items() if isinstance(name, tuple) and count(parts) > 1]
    for value, result, layout, left in zip(
        node.outputs, local.outputs, layouts, spreader.wanted_unreduced(node), strict=True
    ):
        spreader.at[value] = _summed(
            spreader, Located(result, layout, summand), sums, left, factors.reducer
        )


def _unreduced_of_operands(spreader: Spreader, node: Node) -> list[Parts]:
    """Which summand of each operand a device computes with: only of sums that a result keeps as such."""
    none = [spreader.reduced] * len(node.inputs)
    if len(node.outputs) != 1:
        return none
    (wanted,) = spreader.wanted_unreduced(node)
    pending = [spreader.at[value].unreduced for value in node.inputs]
    taken = [i for i, parts in enumerate(pending) if count(parts) > 1]
    if not taken or not all(determines(wanted, pending[i]) for i in taken):
        return none
    summed = summed_operands(node, taken)
    every = joint(*(pending[i] for i in taken))
    return [every if i in summed else spreader.reduced for i in range(len(pending))]


def _summed(
    spreader: Spreader, now: Located, sums: list[Parts], wanted: Parts, reducer: str
) -> Located:
    """With the sums over parts done, but for those that are wanted as summands."""
    local, layout, unreduced = now
    kept = [parts for parts in sums if reducer == "add" and determines(wanted, parts)]
    unreduced = joint(unreduced, *kept)
    rest = [parts for parts in sums if parts not in kept]
    if rest:
        local = spreader.combined(local, layout, unreduced, rest, reducer)
    return Located(local, layout, unreduced)


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
        copy.mlir = node.mlir
        known.update(zip(node.outputs, copy.outputs, strict=True))
        made.nodes.append(copy)
    made.results = [local(value) for value in region.results]
    return made
