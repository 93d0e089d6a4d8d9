"""Collectives that a program begins in one place and waits for in another, as one operation each.

The steps of a plan are queued, and nothing waits for any of them: what is between the two need not know.
"""

from __future__ import annotations

from jaxlib.mlir import ir

_START, _DONE = "stablehlo.async_start", "stablehlo.async_done"


def inline_async_ops(op: ir.Operation) -> None:
    """Puts what begins where it begins, and its results where they are waited for.

    A future that goes elsewhere, such as round a loop, stays, and is refused as a type when it is read.
    """
    for region in op.regions:
        for block in region:
            for inner in list(block):
                if inner.operation.name == _START:
                    _start(inner.operation)
                elif inner.operation.name != _DONE:
                    inline_async_ops(inner.operation)


def _start(op: ir.Operation) -> None:
    users = [use.owner.operation for use in op.result.uses]
    if any(user.name != _DONE for user in users):
        return
    body = op.regions[0].blocks[0]
    for argument, operand in zip(body.arguments, op.operands, strict=True):
        argument.replace_all_uses_with(operand)
    *inner, last = list(body)
    for each in inner:
        each.operation.move_before(op)
    for user in users:
        for old, new in zip(user.results, last.operation.operands, strict=True):
            old.replace_all_uses_with(new)
        user.erase()
    op.erase()
