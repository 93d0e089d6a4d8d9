"""A program as text in which JAX knows every operation when it makes HLO of it."""

from __future__ import annotations

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import sdy


def text_of(module: ir.Module) -> str:
    """The module's; what only Shardy has is replaced in it."""
    text = str(module)
    if "sdy." not in text:
        return text
    with module.context:
        _replace(module.operation)
    return str(module)


def _replace(op: ir.Operation) -> None:
    for region in op.regions:
        for block in region:
            for inner in list(block):
                _replace(inner.operation)
                op = inner.operation
                if op.name == "sdy.constant":
                    made = ir.Operation.create(
                        "stablehlo.constant",
                        [op.result.type],
                        [],
                        {"value": op.attributes["value"]},
                        loc=op.location,
                        ip=ir.InsertionPoint(op),
                    )
                    _instead(op, list(made.results))
                elif op.name in ("sdy.reshard", "sdy.sharding_constraint"):
                    types = [op.result.type]
                    _instead(op, _call(op, "Sharding", list(op.operands), types, _spread(op)))
                elif op.name == "sdy.manual_computation":
                    _manual(op)
                elif op.name == "sdy.propagation_barrier":
                    _instead(op, list(op.operands))
                elif op.name == "sdy.sharding_group":
                    op.erase()


def _instead(op: ir.Operation, values: list[ir.Value]) -> None:
    for old, new in zip(op.results, values, strict=True):
        old.replace_all_uses_with(new)
    op.erase()


def _spread(op: ir.Operation) -> dict[str, ir.Attribute]:
    sharding = sdy.TensorShardingAttr(op.attributes["sharding"])
    return {"sdy.sharding": sdy.TensorShardingPerValueAttr.get([sharding])}


def _manual(op: ir.Operation) -> None:
    """A shard_map's region in place, between what takes arrays apart and what puts them together."""
    body = op.regions[0].blocks[0]
    inside = _call(
        op,
        "xla.sdy.GlobalToLocalShape",
        list(op.operands),
        [value.type for value in body.arguments],
    )
    for argument, value in zip(body.arguments, inside, strict=True):
        argument.replace_all_uses_with(value)
    *inner, last = list(body)
    for each in inner:
        each.operation.move_before(op)
    outside = _call(
        op,
        "xla.sdy.LocalToGlobalShape",
        list(last.operation.operands),
        [result.type for result in op.results],
    )
    _instead(op, outside)


def _call(
    op: ir.Operation,
    target: str,
    operands: list[ir.Value],
    types: list[ir.Type],
    attributes: dict[str, ir.Attribute] | None = None,
) -> list[ir.Value]:
    call = ir.Operation.create(
        "stablehlo.custom_call",
        types,
        operands,
        {"call_target_name": ir.StringAttr.get(target), **(attributes or {})},
        loc=op.location,
        ip=ir.InsertionPoint(op),
    )
    return list(call.results)
