"""Statements as C++ text."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from .access import load_template, store_template
from .affine import Affine
from .comments import commented
from .program import Array
from .scope import Scope
from .statements import (
    Block,
    Do,
    For,
    If,
    Keep,
    Let,
    Load,
    Operand,
    Recall,
    Set,
    Statement,
    Store,
    Var,
)

# Stands on both sides of the constant that an access adds to its position; neither C++ nor a
# comment has the character.
HOLE = "\0"


def _no_position(position: Affine) -> Affine:
    raise AssertionError(f"{position} is outside a kernel")


class Renderer:
    """Renders statements.

    ``joined`` gives positions in terms of the kernel's loops, ``names`` the names of the loops' counters.
    Items for which ``store_condition``, if there is one, does not hold do not store. With a ``scope``, a
    statement that uses a name which no statement before it defines raises ProgramError. ``comments`` are
    those of LoopProgram. What is recalled from ``registers`` is in the slot of the element, not in local
    memory.
    """

    def __init__(
        self,
        arrays: Sequence[Array] = (),
        joined: Callable[[Affine], Affine] = _no_position,
        names: dict[int | str, str] | None = None,
        store_condition: str = "",
        scope: Scope | None = None,
        comments: Mapping[str, str] | None = None,
        registers: Collection[str] = (),
    ) -> None:
        self.arrays, self.joined, self.store_condition = arrays, joined, store_condition
        self.scope, self.comments, self.registers = scope, comments, registers
        self.names: dict[int | str, str] = names or {}
        self._accesses: dict[Affine, str] = {}

    def operand(self, operand: Operand) -> str:
        """Return an operand's text."""
        if isinstance(operand, str):
            if self.scope is not None:
                self.scope.use(operand)
            return operand
        if isinstance(operand, Affine):
            return self.position(operand)
        return operand.template.format(*map(self.operand, operand.args))

    def position(self, position: Affine) -> str:
        """Return the text of a position as a number."""
        self._use_variables(position)
        return self.joined(position).text(self.names)

    def element(self, array: int, position: Affine) -> str:
        """Return the text of an element of an array, its constant offset between holes."""
        self._use_variables(position)
        text = self._accesses.get(position)
        if text is None:
            joined = self.joined(position)
            parts = joined.summands(self.names)
            if joined.constant or not parts:
                parts.append(f"{HOLE}{joined.constant}{HOLE}")
            text = self._accesses[position] = " + ".join(parts)
        return f"x{array}[{text}]"

    def lines(self, statements: Iterable[Statement]) -> list[str]:
        """Return the statements' lines."""
        lines: list[str] = []
        for statement in statements:
            _RENDER[type(statement)](self, statement, lines)
            if self.comments:
                lines[-1] = commented(lines[-1], self.comments.get(_commented_name(statement), ""))
        return lines

    def text(self, statements: Iterable[Statement]) -> str:
        """Return the statements as one text."""
        return "\n".join(self.lines(statements))

    def body(self, statements: Iterable[Statement], names: Sequence[str] = ()) -> list[str]:
        """Return the lines of a body, which may use ``names`` and limits its definitions to itself."""
        if self.scope is None:
            return self.lines(statements)
        with self.scope.nested(names):
            return self.lines(statements)

    def _use_variables(self, position: Affine) -> None:
        if self.scope is not None:
            for counter, _ in position.terms:
                if isinstance(counter, str):
                    self.scope.use(counter)

    def _define(self, name: str) -> None:
        if self.scope is not None:
            self.scope.define(name)

    # -- one function a statement

    def _let(self, s: Let, lines: list[str]) -> None:
        lines.append(f"{s.type} {s.name} = {self.operand(s.value)};")
        self._define(s.name)

    def _var(self, s: Var, lines: list[str]) -> None:
        first = "" if s.value is None else f" = {self.operand(s.value)}"
        lines.append(f"{s.type} {s.name}{first};")
        self._define(s.name)

    def _set(self, s: Set, lines: list[str]) -> None:
        lines.append(f"{self.operand(s.name)} = {self.operand(s.value)};")

    def _do(self, s: Do, lines: list[str]) -> None:
        for name in s.assigned:
            self.operand(name)
        lines.append(self.operand(s.value))

    def _load(self, s: Load, lines: list[str]) -> None:
        element = self.arrays[s.array].element
        text = load_template(element).format(self.element(s.array, s.position))
        if s.mask is not None:
            other = self.operand(s.other)
            text = f"{self.operand(s.mask)} ? ({element.math})({text}) : ({element.math})({other})"
        lines.append(f"{element.math} {s.name} = {text};")
        self._define(s.name)

    def _store(self, s: Store, lines: list[str]) -> None:
        element = self.arrays[s.array].element
        value = store_template(element).format(self.operand(s.value))
        place = self.element(s.array, s.position)
        line = f"atomic_{s.combine}(&{place}, {value});" if s.combine else f"{place} = {value};"
        lines.append(f"if ({self.store_condition}) {{ {line} }}" if self.store_condition else line)

    def _if(self, s: If, lines: list[str]) -> None:
        lines.append(f"if ({self.operand(s.condition)}) {{")
        lines += self.body(s.body)
        if s.orelse:
            lines.append("} else {")
            lines += self.body(s.orelse)
        lines.append("}")

    def _for(self, s: For, lines: list[str]) -> None:
        begin, end = self.operand(s.begin), self.operand(s.end)
        counter = s.counter
        lines.append(f"for ({s.type} {counter} = {begin}; {counter} < {end}; ++{counter}) {{")
        lines += self.body(s.body, [counter])
        lines.append("}")

    def _block(self, s: Block, lines: list[str]) -> None:
        lines.append("{")
        lines += self.body(s.body)
        lines.append("}")

    def _keep(self, s: Keep, lines: list[str]) -> None:
        lines.append(f"{s.cache}[row_offset + c] = {self.operand(s.value)};")

    def _recall(self, s: Recall, lines: list[str]) -> None:
        place = "slot" if s.cache in self.registers else "row_offset + c"
        lines.append(f"{s.type} {s.name} = {s.cache}[{place}];")
        self._define(s.name)


def _commented_name(statement: Statement) -> str:
    """Return the name by which a statement has a comment; most statements define a value."""
    if isinstance(statement, Store):
        return f"x{statement.array}"
    return statement.name if isinstance(statement, Let | Var | Load | Recall) else ""


_RENDER: dict[type, Callable[[Renderer, Any, list[str]], None]] = {
    Let: Renderer._let,
    Var: Renderer._var,
    Set: Renderer._set,
    Do: Renderer._do,
    Load: Renderer._load,
    Store: Renderer._store,
    If: Renderer._if,
    For: Renderer._for,
    Block: Renderer._block,
    Keep: Renderer._keep,
    Recall: Renderer._recall,
}
