"""Which operations use a value."""

from __future__ import annotations

from .program import Block, Op, Value, walk


class Uses:
    """The users of the values of a function."""

    def __init__(self, body: Block) -> None:
        self._users: dict[Value, list[Op]] = {}
        for op in walk(body):
            for value in op.operands:
                self._users.setdefault(value, []).append(op)

    def of(self, value: Value) -> list[Op]:
        """Return the operations that use a value, in order."""
        return self._users.get(value, [])
