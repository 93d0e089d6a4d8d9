"""Async collectives of JAX 0.12, pairs of custom calls: the start becomes the collective that it begins."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from jaxlib.mlir import ir
from jaxlib.mlir._mlir_libs import _jax_mlir_ext
from jaxlib.mlir.dialects import stablehlo

_CALL, _DEVICE_TO_DEVICE = "stablehlo.custom_call", 1
_ATTRIBUTES, _CONFIG = "mhlo.frontend_attributes", "async_collective_config"


def inline_async_calls(main: ir.Operation, functions: Mapping[str, Any]) -> None:
    """Replace each pair by the collective, at the place of the start; ``functions`` has the reducers."""
    for op in list(_operations(main)):
        target = ir.StringAttr(op.attributes["call_target_name"]).value
        if target in _STARTS and (config := _config(op)) is not None:
            with op.context, ir.InsertionPoint(op), op.location:
                found = _STARTS[target](op, config, functions)
            op.result.replace_all_uses_with(found.result)
        elif target in _DONE and len(op.operands) == 1:
            op.result.replace_all_uses_with(op.operands[0])
        else:
            continue
        op.erase()


def _operations(op: ir.Operation) -> Iterator[ir.Operation]:
    """Yield the custom calls inside an operation."""
    for region in op.regions:
        for block in region:
            for inner in block:
                if inner.operation.name == _CALL:
                    yield inner.operation
                yield from _operations(inner.operation)


def _config(op: ir.Operation) -> dict[str, Any] | None:
    """Return the collective's arguments, or None if JAX did not write this custom call."""
    if _ATTRIBUTES not in op.attributes:
        return None
    attributes = ir.DictAttr(op.attributes[_ATTRIBUTES])
    if _CONFIG not in attributes:
        return None
    return json.loads(ir.StringAttr(attributes[_CONFIG]).value)


def _groups(config: Mapping[str, Any], name: str = "replica_groups") -> ir.Attribute:
    rows = np.array(config[name], np.int64)
    return ir.DenseIntElementsAttr.get(rows if rows.size else rows.reshape(0, 2))


def _number(value: int) -> ir.Attribute:
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)


def _channel(config: Mapping[str, Any]) -> dict[str, Any]:
    if "channel_id" not in config:
        return {}
    handle = stablehlo.ChannelHandle.get(config["channel_id"], _DEVICE_TO_DEVICE)
    found = {"channel_handle": handle}
    if config.get("use_global_device_ids"):
        found["use_global_device_ids"] = ir.BoolAttr.get(True)
    return found


def _with_reducer(collective: Any, op: ir.Operation, functions: Mapping[str, Any]) -> Any:
    """Copy the reducer, a function that the custom call names, into the collective; return the latter."""
    (name,) = ir.ArrayAttr(op.attributes["called_computations"])
    scalar = ir.RankedTensorType.get([], ir.RankedTensorType(op.operands[0].type).element_type)
    block = collective.regions[0].blocks.append(scalar, scalar)
    with ir.InsertionPoint(block):
        reducer = functions[ir.FlatSymbolRefAttr(name).value].operation
        arguments = list(block.arguments)
        stablehlo.return_(_jax_mlir_ext.inlined_func_call(reducer, arguments, op.location))
    return collective


def _all_gather(op: ir.Operation, config: Mapping[str, Any], _: Any) -> Any:
    return stablehlo.AllGatherOp(
        [op.result.type],
        [op.operands[0]],
        all_gather_dim=_number(config["all_gather_dimension"]),
        replica_groups=_groups(config),
        **_channel(config),
    )


def _all_reduce(op: ir.Operation, config: Mapping[str, Any], functions: Mapping[str, Any]) -> Any:
    collective = stablehlo.AllReduceOp(
        [op.result.type], [op.operands[0]], replica_groups=_groups(config), **_channel(config)
    )
    return _with_reducer(collective, op, functions)


def _reduce_scatter(
    op: ir.Operation, config: Mapping[str, Any], functions: Mapping[str, Any]
) -> Any:
    collective = stablehlo.ReduceScatterOp(
        op.result.type,
        op.operands[0],
        scatter_dimension=_number(config["scatter_dimension"]),
        replica_groups=_groups(config),
        **_channel(config),
    )
    return _with_reducer(collective, op, functions)


def _all_to_all(op: ir.Operation, config: Mapping[str, Any], _: Any) -> Any:
    return stablehlo.AllToAllOp(
        [op.operands[0]],
        split_dimension=_number(config["split_dimension"]),
        concat_dimension=_number(config["concat_dimension"]),
        split_count=_number(config["split_count"]),
        replica_groups=_groups(config),
        **_channel(config),
    )


def _permute(op: ir.Operation, config: Mapping[str, Any], _: Any) -> Any:
    pairs = _groups(config, "permutation")
    return stablehlo.CollectivePermuteOp(op.operands[0], pairs, **_channel(config))


_STARTS = {
    "all-gather-start": _all_gather,
    "all-reduce-start": _all_reduce,
    "reduce-scatter-start": _reduce_scatter,
    "all-to-all-start": _all_to_all,
    "collective-permute-start": _permute,
}
_DONE = {name.replace("-start", "-done") for name in _STARTS}
