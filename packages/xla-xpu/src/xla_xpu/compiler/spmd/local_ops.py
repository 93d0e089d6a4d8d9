"""Operations that devices compute locally, because matching dimensions have the same sharding."""

from __future__ import annotations

from typing import Any

from ..graph import Graph, Node, Value
from ..types import Type
from .factors import factors_of
from .linear import summed_operands
from .partitioner import ANY, Located, Partitioner, partition_rule
from .sharding import DimShardings, Parts, are_independent, count, determines, joint, unsharded


@partition_rule(ANY)
def local_op(partitioner: Partitioner, node: Node) -> None:
    """Partition an operation into a local one, after resharding its operands to match."""
    factors = factors_of(node)
    wanted = partitioner.requested_shardings(node)
    chosen: dict[Any, Parts] = {}
    for names, sharding in zip(factors.results, wanted, strict=True):
        for name, parts in zip(names, sharding, strict=True):
            if name is not None:
                chosen.setdefault(name, parts)
    unreduced = _unreduced_of_operands(partitioner, node)
    summand = joint(partitioner.reduced, *unreduced)
    used_parts = (*chosen.values(), summand)
    for value, names in zip(node.inputs, factors.operands, strict=True):
        for name, parts in zip(names, partitioner.at[value].sharding, strict=True):
            if isinstance(name, tuple) and count(parts) > 1 and name not in chosen:
                fits = are_independent((*used_parts, parts), partitioner.scope)
                chosen[name] = parts if fits else unsharded(partitioner.meshes.partitions)
                used_parts = (*used_parts, chosen[name])
    _drop_uneven(node, factors.operands, factors.results, chosen)

    def sharding_of(value: Value, names: list[Any]) -> DimShardings:
        nothing = unsharded(partitioner.meshes.partitions)
        return tuple(nothing if name is None else chosen.get(name, nothing) for name in names)

    inputs = [
        partitioner.reshard(value, sharding_of(value, names), summand)
        for value, names, summand in zip(node.inputs, factors.operands, unreduced, strict=True)
    ]
    shardings = [
        sharding_of(v, names) for v, names in zip(node.outputs, factors.results, strict=True)
    ]
    types = [
        partitioner.type(v, sharding) for v, sharding in zip(node.outputs, shardings, strict=True)
    ]
    local = Node(
        node.op,
        inputs,
        types,
        _local_attributes(node, inputs, types),
        [_copy_region(partitioner, region) for region in node.regions],
        node.where,
    )
    local.mlir = node.mlir
    partitioner.nodes.append(local)
    sums = [parts for name, parts in chosen.items() if isinstance(name, tuple) and count(parts) > 1]
    for value, result, sharding, left in zip(
        node.outputs, local.outputs, shardings, partitioner.requested_summands(node), strict=True
    ):
        partitioner.at[value] = _sum_parts(
            partitioner, Located(result, sharding, summand), sums, left, factors.reducer
        )


def _unreduced_of_operands(partitioner: Partitioner, node: Node) -> list[Parts]:
    """Return which summand of each operand a device uses, if the result may stay unreduced."""
    none = [partitioner.reduced] * len(node.inputs)
    if len(node.outputs) != 1:
        return none
    (wanted,) = partitioner.requested_summands(node)
    pending = [partitioner.at[value].unreduced for value in node.inputs]
    taken = [i for i, parts in enumerate(pending) if count(parts) > 1]
    if not taken or not all(determines(wanted, pending[i]) for i in taken):
        return none
    summed = summed_operands(node, taken)
    every = joint(*(pending[i] for i in taken))
    return [every if i in summed else partitioner.reduced for i in range(len(pending))]


def _sum_parts(
    partitioner: Partitioner, now: Located, sums: list[Parts], wanted: Parts, reducer: str
) -> Located:
    """Add the sums over parts, except those that may stay unreduced."""
    local, sharding, unreduced = now
    used_parts = [parts for parts in sums if reducer == "add" and determines(wanted, parts)]
    unreduced = joint(unreduced, *used_parts)
    rest = [parts for parts in sums if parts not in used_parts]
    if rest:
        local = partitioner.combined(local, sharding, unreduced, rest, reducer)
    return Located(local, sharding, unreduced)


def _drop_uneven(
    node: Node, operands: list[list[Any]], results: list[list[Any]], chosen: dict[Any, Parts]
) -> None:
    """Drop shardings that do not divide all dimensions of a factor evenly."""
    for values, all_names in ((node.inputs, operands), (node.outputs, results)):
        for value, names in zip(values, all_names, strict=True):
            for size, name in zip(value.shape, names, strict=True):
                if name in chosen and size % count(chosen[name]):
                    chosen[name] = unsharded(len(chosen[name]))


def _local_attributes(node: Node, inputs: list[Value], types: list[Type]) -> dict[str, Any]:
    """Return the attributes, with sizes of the parts."""
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


def _copy_region(partitioner: Partitioner, region: Graph) -> Graph:
    """Copy a region of scalars, and reshard the values that it captures."""
    known = {value: Value(value.type, None, value.index) for value in region.parameters}

    def local(value: Value) -> Value:
        if value in known:
            return known[value]
        return partitioner.reshard(value, partitioner.replicated(value))

    result = Graph(list(known.values()))
    for node in region.nodes:
        copy = Node(
            node.op,
            [local(value) for value in node.inputs],
            [value.type for value in node.outputs],
            node.attributes,
            [_copy_region(partitioner, inner) for inner in node.regions],
            node.where,
        )
        copy.mlir = node.mlir
        known.update(zip(node.outputs, copy.outputs, strict=True))
        result.nodes.append(copy)
    result.results = [local(value) for value in region.results]
    return result
