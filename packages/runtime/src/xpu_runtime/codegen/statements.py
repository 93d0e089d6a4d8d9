"""Statements of loop programs. Accesses and blocks are typed; an expression is a template over names.

A statement is a tuple, so that thousands of them cost little; its fields are never changed in place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from .affine import Affine


class Term(NamedTuple):
    """An expression: C++ text with ``{0}``, ``{1}``, ... in place of the arguments."""

    template: str
    args: tuple[Operand, ...] = ()


# The name of a variable or a literal; a position as a number; or an expression.
Operand = str | Affine | Term


class Let(NamedTuple):
    """Define a name once; ``type`` is the C++ type."""

    name: str
    type: str
    value: Operand


class Var(NamedTuple):
    """Define a variable that ``Set`` or ``Do`` may change."""

    name: str
    type: str
    value: Operand | None = None


class Set(NamedTuple):
    """Assign to a variable."""

    name: str
    value: Operand


class Do(NamedTuple):
    """Run C++ statements, which change the variables in ``assigned`` and access no array."""

    value: Term
    assigned: tuple[str, ...]


class Load(NamedTuple):
    """Load an element, in the type in which kernels compute; where ``mask`` is false, give ``other``."""

    name: str
    array: int
    position: Affine
    mask: Operand | None = None
    other: Operand = ""


class Store(NamedTuple):
    """Store an element, converted to the array's type; ``combine`` names an atomic update instead."""

    array: int
    position: Affine
    value: Operand
    combine: str = ""


class If(NamedTuple):
    """Run ``body`` where the condition holds, otherwise ``orelse``."""

    condition: Operand
    body: Sequence[Statement]
    orelse: Sequence[Statement] = ()


class For(NamedTuple):
    """Run ``body`` for each number from ``begin`` to before ``end``, in order."""

    counter: str
    type: str
    begin: Operand
    end: Operand
    body: Sequence[Statement]


class Block(NamedTuple):
    """Limit the names that ``body`` defines to it."""

    body: Sequence[Statement]


class Keep(NamedTuple):
    """Save a value of each element of a row in local memory, for later sections."""

    cache: str
    value: Operand


class Recall(NamedTuple):
    """Read the value that ``Keep`` saved for the same element."""

    name: str
    type: str
    cache: str


Statement = Let | Var | Set | Do | Load | Store | If | For | Block | Keep | Recall


def bodies(statement: Statement) -> tuple[Sequence[Statement], ...]:
    """Return the statement's bodies; most statements have none."""
    if isinstance(statement, If):
        return (statement.body, statement.orelse)
    return (statement.body,) if isinstance(statement, For | Block) else ()


def walk(statements: Iterable[Statement]) -> Iterator[Statement]:
    """Yield all statements, those of bodies behind the statement that has them."""
    for statement in statements:
        yield statement
        for body in bodies(statement):
            yield from walk(body)


def operands(statement: Statement) -> tuple[Operand, ...]:
    """Return the operands of a statement; not its accesses, nor what its bodies have."""
    match statement:
        case Let() | Set() | Do() | Store() | Keep():
            return (statement.value,)
        case Var():
            return () if statement.value is None else (statement.value,)
        case Load():
            return () if statement.mask is None else (statement.mask, statement.other)
        case If():
            return (statement.condition,)
        case For():
            return (statement.begin, statement.end)
    return ()


def leaves(operand: Operand) -> Iterator[str | Affine]:
    """Yield the names, literals and positions of which an operand is made."""
    if isinstance(operand, Term):
        for argument in operand.args:
            yield from leaves(argument)
    else:
        yield operand


def names_of(operand: Operand) -> Iterator[str]:
    """Yield the names and literals of an operand, those in positions too."""
    for leaf in leaves(operand):
        if isinstance(leaf, Affine):
            yield from leaf.variables
        else:
            yield leaf


def names_in(statement: Statement) -> Iterator[str]:
    """Yield the names that a statement uses, but not those that only its bodies use."""
    for operand in operands(statement):
        yield from names_of(operand)
    if isinstance(statement, Load | Store):
        yield from statement.position.variables


def positions_of(statements: Iterable[Statement]) -> dict[Affine, None]:
    """Return all positions, in the order of their first use."""
    found: dict[Affine, None] = {}
    for statement in walk(statements):
        if isinstance(statement, Load | Store):
            found[statement.position] = None
        for operand in operands(statement):
            for leaf in leaves(operand):
                if isinstance(leaf, Affine):
                    found[leaf] = None
    return found


def rewrite(
    statements: Iterable[Statement], change: Callable[[Statement], Statement]
) -> list[Statement]:
    """Return the statements with each one that has no body replaced by ``change`` of it."""
    changed: list[Statement] = []
    for statement in statements:
        if isinstance(statement, If):
            body, orelse = rewrite(statement.body, change), rewrite(statement.orelse, change)
            changed.append(If(statement.condition, body, orelse))
        elif isinstance(statement, For | Block):
            changed.append(statement._replace(body=rewrite(statement.body, change)))
        else:
            changed.append(change(statement))
    return changed


def terms_of(operand: Operand) -> Iterator[Term]:
    """Yield the expressions of an operand."""
    if isinstance(operand, Term):
        yield operand
        for arg in operand.args:
            yield from terms_of(arg)
