"""Lowerings of the exchange and of device ids; see ``xla_xpu.compiler.collectives``."""

from __future__ import annotations

from ..graph import Node
from ..lower import Lowerer, lowering
from ..plan import make_step


@lowering("exchange")
def exchange(lowerer: Lowerer, node: Node) -> None:
    """Copy rows between the arrays of devices."""
    (value,) = node.inputs
    source = lowerer.contiguous(value)
    out = lowerer.result(node.output)
    if not out.type.count:
        return
    row = out.type.bytes // out.shape[0]
    pieces = [
        [[device, number * row, to * row, row] for to, (device, number) in enumerate(rows)]
        for rows in node.attributes["sources"]
    ]
    lowerer.add(make_step("exchange", {"in": source}, {"out": out}, pieces=pieces))


@lowering("device_id")
def device_id(lowerer: Lowerer, node: Node) -> None:
    """Write the device's replica or partition."""
    out = lowerer.result(node.output)
    fields = {key: node.attributes[key] for key in ("divisor", "count")}
    lowerer.add(make_step("device_id", {}, {"out": out}, **fields))
