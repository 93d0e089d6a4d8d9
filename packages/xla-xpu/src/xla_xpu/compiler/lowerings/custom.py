"""Lowerings of host calls, and of the tokens that order them."""

from __future__ import annotations

from .. import foreign
from ..graph import Node
from ..lower import Lowerer, lowering
from ..plan import make_step
from ..types import TOKEN


@lowering("create_token", "after_all")
def token(lowerer: Lowerer, node: Node) -> None:
    """Add no step: steps run in the order of the program."""
    lowerer.result(node.output)


@lowering("custom_call@dce_sink")
def dce_sink(lowerer: Lowerer, node: Node) -> None:
    """Compute the operands, even if nothing else needs them."""
    for value in node.inputs:
        lowerer.materialize(value)


@lowering("custom_call@xpu_host_program")
def host_program(lowerer: Lowerer, node: Node) -> None:
    """Call a program for JAX's CPU backend."""
    name, text = node.attributes["backend_config"].split("\n", 1)
    _host_call(lowerer, node, name, program=text)


@lowering("custom_call@xpu_python_callback")
def python_callback(lowerer: Lowerer, node: Node) -> None:
    """Call a Python function with copies in host memory."""
    number = int(node.attributes["backend_config"].split()[0])
    _host_call(
        lowerer,
        node,
        "python callback (host)",
        callback=number,
        device=node.attributes.get("device", -1),
    )


@lowering("custom_call@xpu_buffer_callback")
def buffer_callback(lowerer: Lowerer, node: Node) -> None:
    """Call a Python function with the arrays in device memory."""
    number, *same = node.attributes["backend_config"].split()
    views = [lowerer.contiguous(value) for value in node.inputs]
    outs = [lowerer.result(value) for value in node.outputs]
    step = make_step(
        "buffer_call",
        {"in": views},
        {"out": outs},
        name="python buffer callback",
        callback=int(number),
    )
    for given, taken in (map(int, pair.split(":")) for pair in same):
        # The result has the argument's values until the function changes them.
        lowerer.copy(outs[taken], views[given])
        step.reads.append(outs[taken].buffer)
    lowerer.add(step)


@lowering("custom_call")
def foreign_function(lowerer: Lowerer, node: Node) -> None:
    """Call an XLA FFI function, by a program for JAX's CPU backend."""
    target = node.attributes["call_target_name"]
    name = foreign.name_of(target)
    program = foreign.program_of(node, name)
    _host_call(lowerer, node, f"ffi {target} (host)", program=program, foreign=target)


def _host_call(lowerer: Lowerer, node: Node, name: str, **fields: object) -> None:
    views = [lowerer.contiguous(v) for v in node.inputs if v.type.element is not TOKEN]
    results = [(lowerer.result(v), v.type.element is TOKEN) for v in node.outputs]
    outs = [view for view, is_token in results if not is_token]
    step = make_step("host_call", {"in": views}, {"out": outs}, name=name, **fields)
    for side, all in (("inputs", views), ("results", outs)):
        step.fields[side] = [[view.element.name, list(view.shape)] for view in all]
    lowerer.add(step)
