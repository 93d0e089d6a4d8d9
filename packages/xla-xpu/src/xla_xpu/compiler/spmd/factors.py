"""Factors: names for the dimensions of operands and results that must have the same sharding.

A dimension without a name (None) must not be sharded. A dimension that is summed over has a name of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import elementwise
from ..graph import Node
from ..reducers import IDENTITIES, identity_of
from ..regions import reducer_of
from ..splats import splat

Names = list[Any]
# Attributes that may shift an array although it keeps its size.
_PADS = ("edge_padding_low", "interior_padding", "padding")


@dataclass
class Factors:
    """Names of the dimensions, by operand and by result; ``reducer`` combines partial results."""

    operands: list[Names]
    results: list[Names]
    reducer: str = ""


RULES: dict[str, Callable[[Node], Factors]] = {}


def rule(*names: str) -> Callable[[Callable[[Node], Factors]], Callable[[Node], Factors]]:
    """Register a function as the rule of these operations."""

    def register(function: Callable[[Node], Factors]) -> Callable[[Node], Factors]:
        RULES.update(dict.fromkeys(names, function))
        return function

    return register


def factors_of(node: Node) -> Factors:
    """Return the factors of an operation; one without a rule needs unsharded arrays."""
    rule = _foreign if node.op.startswith("custom_call@") else _nothing
    return RULES.get(node.op, rule)(node)


def _nothing(node: Node) -> Factors:
    return Factors(
        [[None] * len(v.shape) for v in node.inputs], [[None] * len(v.shape) for v in node.outputs]
    )


def _foreign(node: Node) -> Factors:
    """Return the factors of a user's function, whose leading batch dimensions may be sharded."""
    batch = int(node.attributes.get("mhlo.frontend_attributes", {}).get("num_batch_dims", 0))

    def names(shape: tuple[int, ...]) -> Names:
        return [dim if dim < batch else None for dim in range(len(shape))]

    return Factors([names(v.shape) for v in node.inputs], [names(v.shape) for v in node.outputs])


def _through(node: Node, is_unchanged: Callable[[int], bool]) -> Factors:
    """Return factors for dimensions that do not change, of all operands and results of full rank."""
    rank = len(node.output.shape)

    def names(shape: tuple[int, ...]) -> Names:
        if len(shape) != rank:
            return [None] * len(shape)
        return [d if is_unchanged(d) else None for d in range(rank)]

    return Factors([names(v.shape) for v in node.inputs], [names(v.shape) for v in node.outputs])


@rule(
    *elementwise.OPERATIONS,
    "all_reduce",
    "collective_permute",
    "collective_broadcast",
    "custom_call@LayoutConstraint",
)
def _elementwise(node: Node) -> Factors:
    return _through(node, lambda dim: True)


@rule("all_gather")
def _all_gather(node: Node) -> Factors:
    return _through(node, lambda dim: dim != node.attributes["all_gather_dim"])


@rule("reduce_scatter")
def _reduce_scatter(node: Node) -> Factors:
    return _through(node, lambda dim: dim != node.attributes["scatter_dimension"])


@rule("all_to_all")
def _all_to_all(node: Node) -> Factors:
    moved = (node.attributes["split_dimension"], node.attributes["concat_dimension"])
    return _through(node, lambda dim: dim not in moved)


@rule("concatenate", "sort", "iota")
def _but_one(node: Node) -> Factors:
    dimension = node.attributes["iota_dimension" if node.op == "iota" else "dimension"]
    return _through(node, lambda dim: dim != dimension)


@rule(
    "slice", "dynamic_slice", "dynamic_update_slice", "pad", "reduce_window", "select_and_scatter"
)
def _same_size(node: Node) -> Factors:
    arrays = [v for v in (*node.inputs, *node.outputs) if len(v.shape) == len(node.output.shape)]
    window = node.attributes.get("window_dimensions")
    pads = [node.attributes[name] for name in _PADS if name in node.attributes]

    def is_unchanged(dim: int) -> bool:
        if window is not None and window[dim] != 1:
            return False
        same = len({v.shape[dim] for v in arrays}) == 1
        return same and not any(np.any(pad[dim]) for pad in pads)

    return _through(node, is_unchanged)


@rule("reverse")
def _reverse(node: Node) -> Factors:
    return _through(node, lambda dim: dim not in node.attributes["dimensions"])


@rule("transpose")
def _transpose(node: Node) -> Factors:
    permutation = node.attributes["permutation"]
    return Factors(
        [[permutation.index(dim) for dim in range(len(permutation))]],
        [list(range(len(permutation)))],
    )


@rule("broadcast_in_dim")
def _broadcast(node: Node) -> Factors:
    source, shape = node.inputs[0].shape, node.output.shape
    dims = node.attributes["broadcast_dimensions"]
    names = [dim if size == shape[dim] else None for dim, size in zip(dims, source, strict=True)]
    return Factors([names], [list(range(len(shape)))])


@rule("reshape")
def _reshape(node: Node) -> Factors:
    """Name the outermost ones of dimensions that are joined or split."""
    source, shape = node.inputs[0].shape, node.output.shape
    old: Names = [None] * len(source)
    new: Names = [None] * len(shape)
    if math.prod(shape) == 0:
        return Factors([old], [new])
    i = j = 0
    while i < len(source) and j < len(shape):
        if source[i] == 1 or shape[j] == 1:
            i, j = (i + 1, j) if source[i] == 1 else (i, j + 1)
            continue
        old[i] = new[j] = j
        left, right = source[i], shape[j]
        i, j = i + 1, j + 1
        while left != right:
            if left < right:
                left, i = left * source[i], i + 1
            else:
                right, j = right * shape[j], j + 1
    return Factors([old], [new])


@rule("dot_general")
def _dot(node: Node) -> Factors:
    numbers = node.attributes["dot_dimension_numbers"]
    lhs: Names = [None] * len(node.inputs[0].shape)
    rhs: Names = [None] * len(node.inputs[1].shape)
    at = 0
    for left, right in zip(
        numbers["lhs_batching_dimensions"], numbers["rhs_batching_dimensions"], strict=True
    ):
        lhs[left] = rhs[right] = at
        at += 1
    for left, right in zip(
        numbers["lhs_contracting_dimensions"], numbers["rhs_contracting_dimensions"], strict=True
    ):
        lhs[left] = rhs[right] = ("sum", left)
    for names in (lhs, rhs):
        for dim, name in enumerate(names):
            if name is None:
                names[dim] = at
                at += 1
    return Factors([lhs, rhs], [list(range(at))], "add")


@rule("reduce")
def _reduce(node: Node) -> Factors:
    count = len(node.inputs) // 2
    reducer = reducer_of(node.regions[0]) if count == 1 else ""
    element = node.output.type.element
    start = splat(node.inputs[-1])
    if (
        reducer not in IDENTITIES
        or (element.kind == "complex" and reducer != "add")
        or start is None
        or start != identity_of(reducer, element)
    ):
        reducer = ""
    names: Names = []
    result_dim = 0
    for dim in range(len(node.inputs[0].shape)):
        if dim in node.attributes["dimensions"]:
            names.append(("sum", dim) if reducer else None)
        else:
            names.append(result_dim)
            result_dim += 1
    return Factors(
        [*([list(names)] * count), *([[]] * count)], [list(range(result_dim))] * count, reducer
    )


@rule("convolution")
def _convolution(node: Node) -> Factors:
    numbers = node.attributes["dimension_numbers"]
    factors = _nothing(node)
    if node.attributes["batch_group_count"] != 1:
        return factors
    factors.operands[0][numbers["input_batch_dimension"]] = "batch"
    factors.results[0][numbers["output_batch_dimension"]] = "batch"
    if node.attributes["feature_group_count"] == 1:
        factors.operands[1][numbers["kernel_output_feature_dimension"]] = "feature"
        factors.results[0][numbers["output_feature_dimension"]] = "feature"
        factors.operands[0][numbers["input_feature_dimension"]] = ("sum", 0)
        factors.operands[1][numbers["kernel_input_feature_dimension"]] = ("sum", 0)
        factors.reducer = "add"
    return factors


@rule("gather")
def _gather(node: Node) -> Factors:
    """Name the dimensions of indices, and those of the array that windows have completely."""
    numbers = node.attributes["dimension_numbers"]
    factors = _nothing(node)
    operand, indices = factors.operands
    (result,) = factors.results
    offset, vector = list(numbers["offset_dims"]), numbers["index_vector_dim"]
    excluded = {*numbers["collapsed_slice_dims"], *numbers["operand_batching_dims"]}
    taken = [dim for dim in range(len(operand)) if dim not in excluded]
    for dim, out in zip(taken, offset, strict=True):
        if node.attributes["slice_sizes"][dim] == node.inputs[0].shape[dim]:
            operand[dim] = result[out] = out
    places = [dim for dim in range(len(indices)) if dim != vector]
    outs = [dim for dim in range(len(result)) if dim not in offset]
    batching = set(numbers["start_indices_batching_dims"])
    for dim, out in zip(places, outs, strict=True):
        if dim not in batching:
            indices[dim] = result[out] = out
    return factors
