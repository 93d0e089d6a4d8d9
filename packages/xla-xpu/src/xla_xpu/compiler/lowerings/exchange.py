"""What the devices of a program have of each other; see ``xla_xpu.compiler.collectives``."""

from __future__ import annotations

from ..graph import Node
from ..lower import Lowerer, lowering
from ..plan import make_step


@lowering("exchange")
def exchange(lowerer: Lowerer, node: Node) -> None:
    """Rows of the devices' arrays go to rows of others'."""
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
    """A number of the device's own."""
    out = lowerer.result(node.output)
    fields = {key: node.attributes[key] for key in ("divisor", "count")}
    lowerer.add(make_step("device_id", {}, {"out": out}, **fields))
