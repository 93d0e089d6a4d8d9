"""Hoisting of definitions that are the same for all elements of a row, or of a kernel."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from .affine import Affine
from .program import Array
from .statements import Block, Do, Let, Load, Recall, Statement, Var, leaves, walk


def hoist(
    statements: Sequence[Statement], taken: Collection[str] = ()
) -> tuple[list[Let], list[Statement]]:
    """Return the definitions that depend on the row alone, and the other statements.

    What a condition or a loop may skip stays there: it may be a division by zero. So do names that are
    ``taken``, or that several bodies define.
    """
    once: list[Let] = []
    return once, _rest(statements, once, _repeated_names(statements, taken))


def hoist_uniform(
    statements: Sequence[Statement], arrays: Sequence[Array]
) -> tuple[list[Let | Load], list[Statement]]:
    """Return loads of single elements that the kernel does not write, and what depends on these alone.

    The second result is the other statements. Where there is no such load, nothing is hoisted.
    """
    uniform = [s for s in statements if _is_uniform(s, arrays)]
    if not uniform:
        return [], list(statements)
    loads = [s for s in uniform if isinstance(s, Load)]
    once: list[Let] = []
    others = [s for s in statements if s not in loads]
    rest = _rest(others, once, _repeated_names(statements))
    return [*loads, *once], rest


def _is_uniform(statement: Statement, arrays: Sequence[Array]) -> bool:
    return (
        isinstance(statement, Load)
        and statement.mask is None
        and not statement.position.terms
        and not arrays[statement.array].writable
    )


def _repeated_names(statements: Sequence[Statement], taken: Collection[str] = ()) -> set[str]:
    """Return the names that are defined here and elsewhere."""
    names = Counter(s.name for s in walk(statements) if isinstance(s, Let | Var | Load | Recall))
    return {name for name, count in names.items() if count > 1 or name in taken}


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
