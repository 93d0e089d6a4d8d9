"""Comments stand behind the statements that they belong to, and change nothing else of a kernel."""

from dataclasses import replace

import pointwise_programs  # noqa: F401 - registers its cases
import pytest
import row_programs  # noqa: F401 - registers its cases
from column_programs import COLUMN_CASES
from loop_case import CASES, source_of

from xpu_runtime.codegen.comments import without_comments
from xpu_runtime.codegen.program import LoopProgram
from xpu_runtime.codegen.statements import Let, Load, Recall, Var, walk
from xpu_runtime.codegen.target import Target
from xpu_runtime.codegen.write import write

CPU = Target(lanes=16, units=1, gpu=False, max_items=4096, local_memory=1 << 15)
# Longer than the texts that decide the form of loops, with characters that have a meaning there.
COMMENT = "program.py:1: $0$ {0} // " + "y" * 5000
PROGRAMS = {**CASES, **{f"columns of {name}": case for name, case in COLUMN_CASES.items()}}


def names_of(program: LoopProgram) -> set[str]:
    """The names of all values and arrays."""
    names = {f"x{number}" for number in range(len(program.arrays))}
    for section in program.sections:
        names.update(name for fold in section.folds for name in fold.results)
        for statement in walk((*section.per_element, *section.per_row)):
            if isinstance(statement, Let | Load | Recall | Var):
                names.add(statement.name)
    return names


@pytest.mark.parametrize("name", PROGRAMS)
def test_comments_change_nothing_else(rng, name):
    program = PROGRAMS[name](rng, 40, 1000).program
    comments = dict.fromkeys(names_of(program), COMMENT)
    shown = source_of(write(replace(program, comments=comments), CPU))
    assert f"//: {COMMENT}\n" in shown
    assert without_comments(shown) == source_of(write(program, CPU))


def test_a_statement_has_the_comment_of_its_name(rng):
    program = CASES["row_sum"](rng, 7, 1000).program
    (section,) = program.sections
    (result,) = section.folds[0].results
    loaded = next(s for s in section.per_element if isinstance(s, Load))
    comments = {loaded.name: "the load", result: "the sum", "x1": "the store"}
    lines = source_of(write(replace(program, comments=comments), CPU)).splitlines()
    commented = {line.partition("  //: ")[2]: line for line in lines if "//: " in line}
    assert commented.keys() == set(comments.values())
    assert f" {loaded.name} = x0[" in commented["the load"]
    assert commented["the sum"].startswith(f"float {result};")
    assert "x1[" in commented["the store"]
