"""Hoisting of definitions that are the same for all elements of a row."""

from __future__ import annotations

from collections.abc import Sequence

from .affine import Affine
from .statements import Do, For, Let, Load, Recall, Statement, Var, leaves, with_bodies


def hoist(statements: Sequence[Statement]) -> tuple[list[Statement], list[Statement]]:
    """Return the definitions that depend on the row alone, and the other statements."""
    once: list[Statement] = []
    return once, _rest(statements, once, set())


def _rest(
    statements: Sequence[Statement], once: list[Statement], varying: set[str]
) -> list[Statement]:
    """Move definitions of constants to ``once``; the names of all others are in ``varying``."""
    rest: list[Statement] = []
    for statement in statements:
        if isinstance(statement, Let) and not _varies(statement, varying):
            once.append(statement)
            continue
        match statement:
            case For():
                varying.add(statement.counter)
            case Do():
                varying.update(statement.assigned)
            case Let() | Var() | Load() | Recall():
                varying.add(statement.name)
        rest.append(with_bodies(statement, lambda body: _rest(body, once, varying)))
    return rest


def _varies(let: Let, varying: set[str]) -> bool:
    return any(type(leaf) is Affine or leaf in varying for leaf in leaves(let.value))
