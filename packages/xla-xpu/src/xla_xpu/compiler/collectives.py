"""Expand collectives into one kind of step, the exchange, with local operations around it.

``exchange`` gives every device the pieces of other devices that ``sources`` lists for it, one after the
other. Local operations, which can be fused, divide arrays into pieces and join or combine them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .collective_expander import Expander, expansion
from .failures import Unsupported
from .graph import Graph, Node, Value
from .types import ELEMENTS, Type

# From this size on each device sums a part and the parts are gathered, instead of all devices summing all.
_LARGE = 1 << 16


def _size(groups: list[list[int]]) -> int:
    sizes = {len(group) for group in groups}
    if len(sizes) != 1:
        raise Unsupported(
            f"a collective has groups of {sorted(sizes)} devices, but needs groups of one size; "
            "give all groups the same size"
        )
    return sizes.pop()


def _is_alone(node: Node, groups: list[list[int]]) -> bool:
    """Return True if every group has one device, so that arrays do not change."""
    return _size(groups) == 1 and all(
        v.type == o.type for v, o in zip(node.inputs, node.outputs, strict=True)
    )


def _gather(expander: Expander, value: Value, groups: list[list[int]]) -> Value:
    """Return the arrays of the group as rows."""
    row = expander.reshape(value, (1, *value.shape))
    return expander.exchange(row, expander.sources(groups, lambda mine, its: 0), _size(groups))


def _all_to_all_rows(expander: Expander, rows: Value, groups: list[list[int]]) -> Value:
    """Return, from each device of the group, the row for this device."""
    return expander.exchange(rows, expander.sources(groups, lambda mine, its: mine), _size(groups))


def _join(expander: Expander, rows: Value, dim: int) -> Value:
    """Concatenate rows along one of their dimensions."""
    order = [*range(1, dim + 1), 0, *range(dim + 1, len(rows.shape))]
    permuted = expander.transpose(rows, order)
    shape = [*rows.shape[1:]]
    shape[dim] *= rows.shape[0]
    return expander.reshape(permuted, tuple(shape))


def _split(expander: Expander, value: Value, dim: int, count: int) -> Value:
    """Divide an array along a dimension into rows."""
    shape = value.shape
    split = (*shape[:dim], count, shape[dim] // count, *shape[dim + 1 :])
    order = [dim, *(d for d in range(len(split)) if d != dim)]
    return expander.transpose(expander.reshape(value, split), order)


def _combine(expander: Expander, rows: Value, region: Graph) -> Value:
    """Combine rows in order."""
    shape = rows.shape[1:]

    result = _row(expander, rows, 0)
    for number in range(1, rows.shape[0]):
        result = _apply(expander, region, [result, _row(expander, rows, number)], shape)
    return result


def _apply(
    expander: Expander, region: Graph, arguments: list[Value], shape: tuple[int, ...]
) -> Value:
    """Apply a region of scalars to every element."""
    known = dict(zip(region.parameters, arguments, strict=True))
    for node in region.nodes:
        if node.regions or len(node.outputs) != 1:
            raise Unsupported(f"{node.op} in the region with which a collective combines arrays")
        inputs = []
        for value in node.inputs:
            if value not in known:
                known[value] = expander.add(
                    "broadcast_in_dim",
                    [value],
                    Type(value.type.element, shape),
                    broadcast_dimensions=[],
                )
            inputs.append(known[value])
        type = Type(node.output.type.element, shape)
        known[node.output] = expander.add(node.op, inputs, type, **node.attributes)
    return known[region.results[0]]


@expansion("all_gather")
def all_gather(expander: Expander, node: Node) -> list[Value]:
    """Gather the arrays of all devices of the group."""
    groups = expander.groups(node)
    if _is_alone(node, groups):
        return node.inputs
    dim = node.attributes["all_gather_dim"]
    return [_join(expander, _gather(expander, v, groups), dim) for v in node.inputs]


@expansion("all_to_all")
def all_to_all(expander: Expander, node: Node) -> list[Value]:
    """Gather, from all devices of the group, the parts for this device."""
    groups, results = expander.groups(node), []
    if _is_alone(node, groups):
        return node.inputs
    for value in node.inputs:
        rows = _split(expander, value, node.attributes["split_dimension"], _size(groups))
        rows = _all_to_all_rows(expander, rows, groups)
        results.append(_join(expander, rows, node.attributes["concat_dimension"]))
    return results


@expansion("reduce_scatter")
def reduce_all_to_all_rows(expander: Expander, node: Node) -> list[Value]:
    """Compute this device's part of the sum."""
    groups, results = expander.groups(node), []
    if _is_alone(node, groups):
        return node.inputs
    for value in node.inputs:
        rows = _split(expander, value, node.attributes["scatter_dimension"], _size(groups))
        results.append(
            _combine(expander, _all_to_all_rows(expander, rows, groups), node.regions[0])
        )
    return results


@expansion("all_reduce")
def all_reduce(expander: Expander, node: Node) -> list[Value]:
    """Combine the arrays of the group with the region."""
    groups = expander.groups(node)
    sizes, region = {len(group) for group in groups}, node.regions[0]
    if len(sizes) > 1:
        return [_combine_unevenly(expander, value, groups, region) for value in node.inputs]
    size = _size(groups)
    results = []
    for value in node.inputs:
        if size == 1:
            results.append(value)
        elif value.type.bytes < _LARGE or value.type.count % size:
            results.append(_combine(expander, _gather(expander, value, groups), region))
        else:
            rows = expander.reshape(value, (size, value.type.count // size))
            part = _combine(expander, _all_to_all_rows(expander, rows, groups), region)
            results.append(expander.reshape(_gather(expander, part, groups), value.shape))
    return results


def _combine_unevenly(
    expander: Expander, value: Value, groups: list[list[int]], region: Graph
) -> Value:
    """Combine arrays in groups of different sizes: a device combines as many as its group has."""
    sources = expander.sources(groups, lambda mine, its: 0)
    row = expander.reshape(value, (1, *value.shape))
    rows = expander.exchange(row, sources, max(map(len, groups)))
    sizes = np.array([len(each) for each in sources], np.int32)
    size = _select_own(expander, sizes)
    number = size.type.element
    result = _row(expander, rows, 0)
    for index in range(1, rows.shape[0]):
        at = expander.add("constant", [], size.type, value=np.full(1, index, number.numpy))
        within = expander.add(
            "compare", [at, size], Type(ELEMENTS["i1"], ()), comparison_direction="LT"
        )
        more = _apply(expander, region, [result, _row(expander, rows, index)], value.shape)
        result = expander.add("select", [within, more, result], value.type)
    return result


def _select_own(expander: Expander, numbers: np.ndarray) -> Value:
    """Return, on each device, its own one of these i32 numbers."""
    element = ELEMENTS["i32"]
    table = expander.add("constant", [], Type(element, numbers.shape), value=numbers)
    device = expander.add(
        "device_id", [], Type(ELEMENTS["ui32"], ()), divisor=1, count=expander.devices
    )
    one = expander.add("dynamic_slice", [table, device], Type(element, (1,)), slice_sizes=[1])
    return expander.reshape(one, ())


@expansion("collective_permute")
def collective_permute(expander: Expander, node: Node) -> list[Value]:
    """Return the array of one other device, or zeros."""
    sources: list[list[list[int]]] = [[] for _ in range(expander.devices)]
    pairs = {**node.attributes, "replica_groups": node.attributes["source_target_pairs"]}
    flat = Node(node.op, [], [], pairs)
    for source, target in expander.groups(flat) if pairs["replica_groups"] else []:
        sources[target] = [[source, 0]]
    (value,) = node.inputs
    row = expander.reshape(value, (1, *value.shape))
    return [expander.reshape(expander.exchange(row, sources, 1), value.shape)]


@expansion("collective_broadcast")
def collective_broadcast(expander: Expander, node: Node) -> list[Value]:
    """Return the array of the first device of the group, or zeros."""
    sources: list[list[list[int]]] = [[] for _ in range(expander.devices)]
    for group in expander.groups(node):
        for device in group:
            sources[device] = [[group[0], 0]]
    (value,) = node.inputs
    row = expander.reshape(value, (1, *value.shape))
    return [expander.reshape(expander.exchange(row, sources, 1), value.shape)]


@expansion("custom_call@ragged_all_to_all")
def ragged_all_to_all(expander: Expander, node: Node) -> list[Value]:
    """Write the rows that other devices send to this one, with the counts and offsets that they give."""
    operand, result, *numbers = node.inputs
    attributes = node.attributes["backend_config"]
    groups = expander.groups(Node("all_to_all", [], [], {**attributes, **_among(attributes)}))
    size = _size(groups)
    whole = _gather(expander, operand, groups)
    begins, counts, ends = (
        _all_to_all_rows(expander, _split(expander, each, 0, size), groups) for each in numbers[:3]
    )
    for sender in range(size):
        array = _row(expander, whole, sender)
        for piece in range(begins.shape[1]):
            begin, count, to = (
                expander.reshape(_row(expander, _row(expander, each, sender), piece), ())
                for each in (begins, counts, ends)
            )
            result = _write_rows(expander, array, result, begin, count, to)
    return [result]


def _among(attributes: dict[str, Any]) -> dict[str, Any]:
    """Return the channel in the form of other collectives."""
    return {"channel_handle": f"handle = {attributes.get('channel_id', 0)},"}


def _row(expander: Expander, rows: Value, number: int) -> Value:
    shape = rows.shape[1:]
    one = expander.add(
        "slice",
        [rows],
        Type(rows.type.element, (1, *shape)),
        start_indices=[number, *(0 for _ in shape)],
        limit_indices=[number + 1, *shape],
        strides=[1] * (len(shape) + 1),
    )
    return expander.reshape(one, shape)


def _write_rows(
    expander: Expander, source: Value, target: Value, begin: Value, count: Value, to: Value
) -> Value:
    """Return ``target`` with ``count`` rows of ``source``, from ``begin`` on, written at ``to``."""
    rows, index = target.shape[0], begin.type.element
    places = Type(index, (rows,))
    truths = Type(ELEMENTS["i1"], (rows,))

    def wide(value: Value, type: Type, dims: list[int]) -> Value:
        return expander.add("broadcast_in_dim", [value], type, broadcast_dimensions=dims)

    at = expander.add("iota", [], places, iota_dimension=0)
    within = expander.add("subtract", [at, wide(to, places, [])], places)
    limit = wide(count, places, [])
    zero = expander.add("constant", [], places, value=np.zeros(1, index.numpy))
    after = expander.add("compare", [within, zero], truths, comparison_direction="GE")
    before = expander.add("compare", [within, limit], truths, comparison_direction="LT")
    chosen = expander.add("and", [after, before], truths)
    of = expander.add("add", [within, wide(begin, places, [])], places)
    numbers = {
        "offset_dims": list(range(1, len(target.shape))),
        "collapsed_slice_dims": [0],
        "operand_batching_dims": [],
        "start_indices_batching_dims": [],
        "start_index_map": [0],
        "index_vector_dim": 1,
    }
    taken = expander.add(
        "gather",
        [source, of],
        target.type,
        dimension_numbers=numbers,
        slice_sizes=[1, *source.shape[1:]],
    )
    mask = wide(chosen, Type(truths.element, target.shape), [0])
    return expander.add("select", [mask, taken, target], target.type)


@expansion("partition_id")
def partition_id(expander: Expander, node: Node) -> list[Value]:
    """Read the partition from the device's number, in which it varies fastest."""
    return [_number(expander, node, 1, expander.partitions)]


@expansion("replica_id")
def replica_id(expander: Expander, node: Node) -> list[Value]:
    """Read the replica from the device's number, in which it varies slowest."""
    return [_number(expander, node, expander.partitions, expander.replicas)]


def _number(expander: Expander, node: Node, divisor: int, count: int) -> Value:
    type = node.output.type
    if count == 1:
        return expander.add("constant", [], type, value=np.zeros(1, np.uint32))
    return expander.add("device_id", [], type, divisor=divisor, count=count)
