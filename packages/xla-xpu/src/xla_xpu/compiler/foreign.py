"""Calls of XLA FFI functions, as programs for JAX's CPU backend."""

from __future__ import annotations

import json

from ..rules import foreign
from .export import text_of
from .failures import Unsupported
from .graph import Graph, Node, Value
from .types import TOKEN


def name_of(target: str) -> str:
    """Return a function's name in the CPU backend; raise Unsupported if it is not registered."""
    name = foreign.name_on_host(target)
    if name is None:
        raise Unsupported(
            f"ffi_call: no function {target!r} is registered for xpu; register it with "
            f"jax.ffi.register_ffi_target({target!r}, function, platform='xpu') before the program is "
            "compiled. It is called with arrays in host memory."
        )
    return name


def program_of(node: Node, name: str) -> str:
    """Return a program of arrays that contains the call; it creates the call's tokens itself."""
    program = Graph()
    inputs = []
    for value in node.inputs:
        if value.type.element is TOKEN:
            program.nodes.append(Node("create_token", [], [value.type]))
            inputs.append(program.nodes[-1].output)
        else:
            program.parameters.append(Value(value.type, None, len(program.parameters)))
            inputs.append(program.parameters[-1])
    call = Node("custom_call", inputs, [value.type for value in node.outputs])
    call.mlir = {**node.mlir, "call_target_name": json.dumps(name)}
    program.nodes.append(call)
    program.results = [value for value in call.outputs if value.type.element is not TOKEN]
    return text_of(program, "foreign", [""] * len(program.parameters), 1, 1)
