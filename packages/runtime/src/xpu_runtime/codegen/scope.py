"""The names that a place of a loop program, or of the kernel written from it, may use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from .program import LoopProgram, ProgramError

_WORDS = frozenset(["true", "false"])


class Scope:
    """The names that are defined so far: ``own`` in the innermost body, ``names`` in outer ones too."""

    def __init__(self, names: Iterable[str] = (), own: set[str] | None = None) -> None:
        self.names = set(names)
        self.own: set[str] = set() if own is None else own

    @classmethod
    def of(cls, program: LoopProgram) -> Scope:
        """Return the scope of a kernel's arguments: arrays, parameters and symbols."""
        arrays = (f"x{number}" for number in range(len(program.arrays)))
        return cls({*arrays, *parameter_types(program), *symbol_names(program)})

    def use(self, text: str) -> None:
        """Raise ProgramError if a text is a name that is not defined; literals are no names."""
        if text not in self.names and text.isidentifier() and text not in _WORDS:
            raise ProgramError(text, f"{text} is used before its definition")

    def define(self, name: str) -> None:
        """Define a name; raise ProgramError if the innermost body has defined it before."""
        if name in self.own:
            raise ProgramError(name, f"{name} is defined twice")
        self.own.add(name)
        self.names.add(name)

    @contextmanager
    def nested(self, names: Iterable[str] = ()) -> Iterator[None]:
        """Limit definitions in the block to it. Its statements may use ``names``."""
        outside = self.names, self.own
        self.names, self.own = {*self.names, *names}, set()
        try:
            yield
        finally:
            self.names, self.own = outside


def parameter_types(program: LoopProgram) -> dict[str, str]:
    """Return the C++ types of a program's further parameters, by their names."""
    declarations = (declaration.rpartition(" ") for declaration in program.parameters)
    return {name: type for type, _, name in declarations}


def symbol_names(program: LoopProgram) -> set[str]:
    """Return the names of a program's symbols, and of the arguments that hold them."""
    return {name for symbol in program.symbols for name in (symbol.name, symbol.argument)}
