"""Where values lie: constants, and shardings that the program asks for."""

from __future__ import annotations

from ..failures import Unsupported
from ..graph import Node
from ..splats import is_splat
from .spread import Located, Spreader, spreads


@spreads("constant")
def constant(spreader: Spreader, node: Node) -> None:
    """One number is the same in every part; other constants all devices have all of."""
    (wanted,) = spreader.wanted(node)
    layout = wanted if is_splat(node.output) else spreader.nothing(node.output)
    value = node.attributes["value"]
    local = spreader.add("constant", [], spreader.type(node.output, layout), value=value)
    spreader.at[node.output] = Located(local, layout, spreader.reduced)


@spreads(
    "sdy.reshard",
    "sdy.sharding_constraint",
    "sdy.all_gather",
    "sdy.all_reduce",
    "sdy.all_slice",
    "sdy.all_to_all",
    "sdy.collective_permute",
    "sdy.reduce_scatter",
    "sdy.replicated_to_unreduced",
    "sdy.sharded_to_unreduced",
)
def move(spreader: Spreader, node: Node) -> None:
    """A sharding that the program asks for."""
    (value,) = node.inputs
    sharding = node.attributes.get("sharding") or node.attributes["out_sharding"]
    target = spreader.fit(spreader.meshes.layout(sharding), value)
    unreduced = spreader.meshes.unreduced(sharding)
    local = spreader.held(value, target, unreduced)
    spreader.at[node.output] = Located(local, target, unreduced)


@spreads("sdy.propagation_barrier")
def identity(spreader: Spreader, node: Node) -> None:
    """Nothing of its own."""
    for value, output in zip(node.inputs, node.outputs, strict=True):
        spreader.at[output] = spreader.at[value]


@spreads("custom_call@dce_sink")
def dce_sink(spreader: Spreader, node: Node) -> None:
    """Computes the parts of its operands wherever they are."""
    inputs = [spreader.at[value].local for value in node.inputs]
    sink = Node(node.op, inputs, [], {}, where=node.where)
    sink.mlir = node.mlir
    spreader.nodes.append(sink)


@spreads("sdy.sharding_group")
def group(spreader: Spreader, node: Node) -> None:
    """Heard by Shardy's propagation."""


@spreads("sdy.named_computation")
def refused(spreader: Spreader, node: Node) -> None:
    """What no program of JAX has here."""
    raise Unsupported(f"{node.op} in a program over several devices is not supported on xpu")
