"""Hoisting of definitions that are the same for all elements of a row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from .affine import Affine
from .statements import Block, Do, Let, Load, Recall, Statement, Var, leaves, walk


def hoist(
    statements: Sequence[Statement], taken: Collection[str] = ()
) -> tuple[list[Let], list[Statement]]:
    """Return the definitions that depend on the row alone, and the other statements.

    What a condition or a loop may skip stays there: it may be a division by zero. So do names that are
    ``taken``, or that several bodies define.
    """
    once: list[Let] = []
    names = Counter(s.name for s in walk(statements) if isinstance(s, Let))
    varying = {name for name, count in names.items() if count > 1 or name in taken}
    return once, _rest(statements, once, varying)


def _rest(statements: Sequence[Statement], once: list[Let], varying: set[str]) -> list[Statement]:
    """Move definitions of constants to ``once``; the names of all others are in ``varying``."""
    rest: list[Statement] = []
    for statement in statements:
        match statement:
            case Let() if statement.name not in varying and not _varies(statement, varying):
                once.append(statement)
                continue
            case Let() | Var() | Load() | Recall():
                varying.add(statement.name)
            case Do():
                varying.update(statement.assigned)
            case Block():
                statement = Block(_rest(statement.body, once, varying))
        rest.append(statement)
    return rest


def _varies(let: Let, varying: set[str]) -> bool:
    return any(type(leaf) is Affine or leaf in varying for leaf in leaves(let.value))
