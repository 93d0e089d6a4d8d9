"""Calls of functions: each is replaced by the function's operations."""

from __future__ import annotations

from .clone import clone_op
from .program import Block, Op, Value, replace_uses
from .structure import structure


def kernel_of(module: Op) -> Op:
    """Return a module's kernel, with one block and without calls."""
    functions = {op.attributes["sym_name"]: op for op in module.body.ops if op.name == "tt.func"}
    for function in functions.values():
        structure(function)
    (kernel,) = (f for f in functions.values() if f.attributes.get("sym_visibility") != "private")
    _inline(kernel.body, functions)
    return kernel


def _inline(block: Block, functions: dict[str, Op]) -> None:
    ops: list[Op] = []
    replaced: dict[Value, Value] = {}
    for op in block.ops:
        for region in op.regions:
            for inner in region.blocks:
                _inline(inner, functions)
        if op.name != "tt.call":
            ops.append(op)
            continue
        body = functions[op.attributes["callee"]].body
        _inline(body, functions)
        arguments = [replaced.get(value, value) for value in op.operands]
        values = dict(zip(body.arguments, arguments, strict=True))
        ops += [clone_op(inner, values) for inner in body.ops[:-1]]
        results = [values.get(value, value) for value in body.terminator.operands]
        replaced.update(zip(op.results, results, strict=True))
    block.ops = ops
    if replaced:
        replace_uses(block, replaced)
