"""Drop definitions that nothing uses, as other passes leave them behind: less text to compile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .program import LoopProgram, Section
from .statements import Block, For, If, Let, Load, Recall, Set, Statement, names_in, walk


def drop_unused(program: LoopProgram) -> LoopProgram:
    """Return the program without unused values and loads."""
    used: set[str] = set()
    sections: list[Section] = []
    for section in reversed(program.sections):
        per_row = _needed(section.per_row, used)
        for fold in section.folds:
            results = map(Set, fold.results, fold.finish)
            for statement in walk((*fold.update, *fold.combine, *results)):
                used.update(names_in(statement))
        sections.append(Section(_needed(section.per_element, used), section.folds, per_row))
    return replace(program, sections=sections[::-1])


def _needed(statements: Sequence[Statement], used: set[str]) -> list[Statement]:
    """Return the statements that have an effect, or define a name in ``used``; add the names they use."""
    needed: list[Statement] = []
    for statement in reversed(statements):
        match statement:
            case Let() | Load() | Recall() if statement.name not in used:
                continue
            case If():
                body, orelse = _needed(statement.body, used), _needed(statement.orelse, used)
                statement = If(statement.condition, body, orelse)
            case For() | Block():
                statement = statement._replace(body=_needed(statement.body, used))
        used.update(names_in(statement))
        needed.append(statement)
    return needed[::-1]
