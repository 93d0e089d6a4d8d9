"""Hoisting of definitions that are the same for all elements of a row."""

from __future__ import annotations

from collections.abc import Sequence

from .affine import Affine
from .statements import Block, Do, For, If, Let, Set, Statement, leaves


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
        kind = type(statement)
        if kind is Let and not _varies(statement, varying):  # type: ignore[arg-type]
            once.append(statement)
            continue
        if kind is If:
            body = _rest(statement.body, once, varying)  # type: ignore[union-attr]
            orelse = _rest(statement.orelse, once, varying)  # type: ignore[union-attr]
            statement = statement._replace(body=body, orelse=orelse)  # type: ignore[union-attr,call-arg]
        elif kind is For:
            varying.add(statement.counter)  # type: ignore[union-attr]
            statement = statement._replace(body=_rest(statement.body, once, varying))  # type: ignore[union-attr,call-arg]
        elif kind is Block:
            statement = statement._replace(body=_rest(statement.body, once, varying))  # type: ignore[union-attr,call-arg]
        elif kind is Do:
            varying.update(statement.assigned)  # type: ignore[union-attr]
        elif kind is not Set:
            varying.add(getattr(statement, "name", ""))
        rest.append(statement)
    return rest


def _varies(let: Let, varying: set[str]) -> bool:
    return any(type(leaf) is Affine or leaf in varying for leaf in leaves(let.value))
