"""What is wrong with a loop program is named before a kernel is written."""

from dataclasses import replace

import pytest
from loop_case import at, total, whole

from xpu_runtime.codegen import write_columns, write_pointwise, write_rows
from xpu_runtime.codegen.affine import Affine
from xpu_runtime.codegen.check import ProgramError
from xpu_runtime.codegen.elements import ELEMENTS
from xpu_runtime.codegen.program import Array, Cache, LoopProgram, Section
from xpu_runtime.codegen.statements import (
    Block,
    Do,
    For,
    If,
    Keep,
    Let,
    Load,
    Recall,
    Set,
    Store,
    Term,
    Var,
)
from xpu_runtime.codegen.target import Target
from xpu_runtime.codegen.write import write

CPU = Target(lanes=16, units=2, gpu=False, max_items=4096, local_memory=1 << 15)
F32 = ELEMENTS["f32"]
PLACE = Affine.of(0)


def program(*body, shape=(8,), arrays=None, **more):
    arrays = arrays or [Array(F32, 32), Array(F32, 32, True)]
    return LoopProgram(arrays, shape, more.pop("parallel_dims", 1), [Section(body)], **more)


LOAD = Load("a", 0, PLACE)
WRONG = {
    "undefined name": (program(Store(1, PLACE, "b")), "b"),
    "undefined argument": (program(LOAD, Store(1, PLACE, Term("-{0}", ("z",)))), "z"),
    "undefined counter": (program(Load("a", 0, Affine.of("i"))), "i"),
    "name of another block": (program(Block([LOAD]), Store(1, PLACE, "a")), "a"),
    "counter of a loop behind the loop": (
        program(For("k", "i32", "0", "2", []), Store(1, PLACE, "k")),
        "k",
    ),
    "name of another branch": (program(If("true", [LOAD], [Store(1, PLACE, "a")])), "a"),
    "assignment to nothing": (program(Set("total", "0.0f")), "total"),
    "change of nothing": (program(Do(Term("{0}++;", ("n",)), ("n",))), "n"),
    "template with too few arguments": (
        program(LOAD, Let("b", "float", Term("{0} + {1}", ("a",)))),
        "{0} + {1}",
    ),
    "template with braces": (program(Do(Term("for (;;) { }"), ())), "for (;;) { }"),
    "a name of the writers": (program(Load("e", 0, PLACE)), "e"),
    "name defined twice": (program(LOAD, LOAD), "a"),
    "no identifier": (program(Let("a b", "float", "0")), "a b"),
    "unknown type": (program(Let("a", "quad", "0")), "a"),
    "unknown type of a variable": (program(Var("v", "f32")), "v"),
    "counter beyond the loops": (program(Load("a", 0, Affine.of(1))), "counter 1"),
    "read beyond the end": (program(Load("a", 0, PLACE + 1)), "array 0"),
    "read before the begin": (program(Load("a", 0, PLACE + -1)), "array 0"),
    "strides too long": (program(Load("a", 0, PLACE * 2)), "array 0"),
    "write beyond the end": (program(LOAD, Store(1, PLACE + 1, "a")), "array 1"),
    "loop beyond the end": (
        program(For("k", "i32", "0", "2", [Load("a", 0, PLACE + Affine.of("k"))])),
        "array 0",
    ),
    "load at a float": (program(LOAD, Load("b", 0, Affine.of("a"))), "a"),
    "store at a bool": (
        program(LOAD, Let("b", "bool", "true"), Store(1, Affine.of("b"), "a")),
        "b",
    ),
    "value of a position with a float": (
        program(Let("f", "float", "1.0f"), Let("n", "i32", PLACE + Affine.of("f"))),
        "f",
    ),
    "position with a parameter that is a float": (
        program(Load("a", 0, Affine.of("scale")), parameters=("float scale",)),
        "scale",
    ),
    "position with a loop's float": (
        program(For("k", "float", "0", "2", [Load("a", 0, Affine.of("k"))])),
        "k",
    ),
    "no such array": (program(Load("a", 2, PLACE)), "array 2"),
    "read-only array": (program(LOAD, Store(0, PLACE, "a")), "array 0"),
    "no such update": (program(LOAD, Store(1, PLACE, "a", combine="sub")), "sub"),
    "no such cache": (program(LOAD, Keep("kept", "a")), "kept"),
    "no such cache to read": (program(Recall("a", "float", "kept")), "kept"),
    "no elements": (program(LOAD, shape=(0,)), "shape[0]"),
    "too many elements": (program(LOAD, shape=(2**40, 2**40), parallel_dims=2), "shape"),
    "more parallel dimensions than there are": (program(LOAD, parallel_dims=2), "parallel_dims"),
    "lanes with nothing to fold": (
        program(LOAD, lanes_on_parallel=True),
        "lanes_on_parallel",
    ),
    "lanes along no parallel dimension": (
        program(LOAD, parallel_dims=0, lanes_on_parallel=True),
        "lanes_on_parallel",
    ),
    "caches of lanes with rows of their own": (
        program(shape=(8, 8), caches=[Cache("kept", "float")], lanes_on_parallel=True),
        "lanes_on_parallel",
    ),
    "unknown element": (
        program(LOAD, arrays=[Array(replace(F32, name="f3", math="f3"), 32)]),
        "arrays[0]",
    ),
    "cache larger than local memory": (
        program(shape=(1, 1 << 20), caches=[Cache("kept", "float")]),
        "kept",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_program(what):
    wrong, name = WRONG[what]
    with pytest.raises(ProgramError) as raised:
        write(wrong, CPU)
    assert raised.value.name == name
    assert name.partition("[")[0] in str(raised.value)


def test_statement_with_a_wrong_position_is_named():
    with pytest.raises(ProgramError, match="The Load of b uses a, a float, in a position"):
        write(WRONG["load at a float"][0], CPU)


def test_fold_at_a_float():
    """A fold's update and what follows a fold know the types of its accumulators and results."""
    fold = total("sum", "a")
    beginning = [Load("a", 0, at(8, 1))]
    update = replace(fold, update=[Set("s0", Affine.of("s0"))])
    with pytest.raises(ProgramError, match="The Set of s0 uses s0, a float"):
        write(LoopProgram([Array(F32, 64)], (2, 8), 1, [Section(beginning, [update])]), CPU)
    finish = replace(fold, finish=(Affine.of("s0"),))
    with pytest.raises(ProgramError, match="A fold uses s0, a float"):
        write(LoopProgram([Array(F32, 64)], (2, 8), 1, [Section(beginning, [finish])]), CPU)
    row = [Store(1, Affine.of("sum"), "1.0f")]
    arrays = [Array(F32, 64), Array(F32, 8, True)]
    with pytest.raises(ProgramError, match="The Store to array 1 uses sum, a float"):
        write(LoopProgram(arrays, (2, 8), 1, [Section(beginning, [fold], row)]), CPU)


def test_positions_of_integers():
    """Loads, counters and parameters of integers; another body may have a float of that name."""
    index = ELEMENTS["u8"]
    arrays = [Array(index, 8), Array(F32, 32), Array(F32, 32, True)]
    body = [
        Load("i", 0, PLACE),
        If("i", [Let("j", "float", "1.0f")], [Let("j", "i64", "1"), Load("b", 1, Affine.of("j"))]),
        For("k", "u16", "0", "1", [Load("n", 1, Affine.of("k"))]),
        Load("a", 1, Affine.of("i") + Affine.of("first")),
        Store(2, PLACE, "a"),
    ]
    write(program(*body, arrays=arrays, parameters=("i64 first",)), CPU)


def test_fold_with_other_counts():
    fold = total("sum", "a")
    section = Section([Load("a", 0, Affine.of(1))], [fold.__class__(
        fold.results, ("float", "float"), fold.identities, fold.update, fold.combine, fold.finish
    )])  # fmt: skip
    with pytest.raises(ProgramError, match="sum"):
        write(LoopProgram([Array(F32, 32)], (2, 8), 1, [section]), CPU)


def test_fold_that_begins_with_an_undefined_value():
    begun = replace(total("sum", "a"), identities=("first",))
    section = Section([Load("a", 0, Affine.of(1))], [begun])
    with pytest.raises(ProgramError, match="first is used before its definition"):
        write(LoopProgram([Array(F32, 64)], (2, 8), 1, [section]), CPU)


def test_fold_without_a_dimension():
    section = Section([LOAD], [total("sum", "a")])
    with pytest.raises(ProgramError, match="dimension"):
        write(LoopProgram([Array(F32, 32)], (8,), 1, [section]), CPU)


def test_guarded_accesses_may_reach_further():
    """A condition or a mask limits the position, which is not known here."""
    inside = Term("({0}) < 8", (PLACE + 1,))
    write(program(Load("a", 0, PLACE + 1, mask=inside, other="0.0f"), Store(1, PLACE, "a")), CPU)
    write(program(If(inside, [Load("a", 0, PLACE + 1)])), CPU)


def _moved(shape, place, *, folded=False, **more):
    """A program that computes a root which is the same for all elements, of ``shape``."""
    arrays = [Array(F32, 4), Array(F32, 1 << 17), Array(F32, 1 << 17, True)]
    body = [
        Let("two", "float", "2.0f"),
        Load("scale", 0, Affine()),
        Let("root", "float", Term("sqrt({0}) + {1}", ("scale", "two"))),
        Load("a", 1, place),
        Let("y", "float", Term("{0} * {1} + {2}", ("a", "root", "two"))),
    ]
    if folded:
        section = Section(body, [total("sum", "y")], [Store(2, at(1, 0), "sum")])
        return LoopProgram(arrays, shape, 1, [section], **more)
    section = Section([*body, Store(2, whole(*shape), "y")])
    return LoopProgram(arrays, shape, len(shape), [section])


# A program of each form of kernels, and the pass that moves its definitions out of loops.
MOVED = {
    "line": (_moved((64,), PLACE), write_pointwise, "hoist_uniform"),
    "rows": (_moved((16, 256), at(512, 1)), write_pointwise, "hoist_uniform"),
    "transposed": (_moved((64, 256), at(1, 64)), write_pointwise, "hoist_uniform"),
    "folded rows": (_moved((64, 256), at(256, 1), folded=True), write_rows, "hoist"),
    "folded columns": (
        _moved((64, 256), at(1, 64), folded=True, lanes_on_parallel=True),
        write_columns,
        "hoist",
    ),
}


@pytest.mark.parametrize("form", MOVED)
def test_a_pass_that_loses_a_definition(monkeypatch, form):
    """It is found before a compiler gets the kernel."""
    given, module, name = MOVED[form]
    write(given, CPU)
    hoist = getattr(module, name)
    monkeypatch.setattr(module, name, lambda *arguments: ([], hoist(*arguments)[1]))
    with pytest.raises(ProgramError, match=r"(root|two) is used before its definition"):
        write(given, CPU)


@pytest.mark.parametrize("form", MOVED)
def test_a_pass_that_repeats_a_definition(monkeypatch, form):
    given, module, name = MOVED[form]
    hoist = getattr(module, name)

    def repeated(*arguments):
        once, each = hoist(*arguments)
        return [*once, once[-1]], each

    monkeypatch.setattr(module, name, repeated)
    with pytest.raises(ProgramError, match="is defined twice"):
        write(given, CPU)
