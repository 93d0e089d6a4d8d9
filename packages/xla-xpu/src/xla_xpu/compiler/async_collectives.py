"""Inline async collectives. Steps only enqueue, so a start/done pair needs no wait."""

from __future__ import annotations

from jaxlib.mlir import ir

_START, _DONE = "stablehlo.async_start", "stablehlo.async_done"


def inline_async_ops(op: ir.Operation) -> None:
    """Replace each start/done pair by the collective, at the place of the start.

    A future with other uses, such as a loop state, stays; the import then rejects its type.
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
