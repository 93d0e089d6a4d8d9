"""Collects the statements of a loop program, with a new name for each."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager

from .affine import Affine
from .statements import Do, For, If, Let, Operand, Set, Statement, Term, Var


class Builder:
    """Statements so far. ``size`` counts them, those of bodies included."""

    def __init__(self) -> None:
        self.statements: list[Statement] = []
        self.size = 0
        self.name_count = 0
        self.definitions: dict[Hashable, str] = {}

    def add(self, statement: Statement) -> None:
        """Append a statement, whose bodies have been collected by ``body``."""
        self.statements.append(statement)
        self.size += 1

    def new_name(self, letter: str = "v") -> str:
        """Return a name that no other statement uses."""
        self.name_count += 1
        return f"{letter}{self.name_count}"

    def define(self, type: str, value: Operand) -> str:
        """Define a value and return its name; equal values share one."""
        key = type, value
        name = self.definitions.get(key)
        if name is None:
            name = self.definitions[key] = self.new_name()
            self.add(Let(name, type, value))
        return name

    def let(self, type: str, template: str, *args: Operand) -> str:
        """Define the value of a template and return its name."""
        return self.define(type, Term(template, args))

    def var(self, type: str, value: Operand | None = None) -> str:
        """Declare a variable, which ``set`` or ``do`` may change, and return its name."""
        name = self.new_name()
        self.add(Var(name, type, value))
        return name

    def set(self, name: str, value: Operand) -> None:
        """Assign to a variable."""
        self.add(Set(name, value))

    def do(self, template: str, *args: Operand, assigned: tuple[str, ...]) -> None:
        """Run C++ statements that change the variables in ``assigned``."""
        self.add(Do(Term(template, args), assigned))

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Limit definitions in the block to it."""
        definitions, self.definitions = self.definitions, dict(self.definitions)
        yield
        self.definitions = definitions

    @contextmanager
    def body(self) -> Iterator[list[Statement]]:
        """Collect the statements of the block as a body, outside of which its definitions are unknown."""
        outside, self.statements = self.statements, []
        with self.scope():
            yield self.statements
        self.statements = outside

    @contextmanager
    def where(self, condition: Operand) -> Iterator[None]:
        """Run the statements of the block where the condition holds."""
        with self.body() as body:
            yield
        self.add(If(condition, body))

    @contextmanager
    def loop(
        self, end: Operand, begin: Operand = "0", type: str = "i32", letter: str = "k"
    ) -> Iterator[Affine]:
        """Run the statements of the block for each number from ``begin`` to before ``end``."""
        counter = self.new_name(letter)
        with self.body() as body:
            yield Affine.of(counter)
        self.add(For(counter, type, begin, end, body))
