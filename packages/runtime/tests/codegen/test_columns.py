"""Folds with lanes along the last parallel dimension, compared with numpy; broken writers must be noticed."""

import re
from dataclasses import replace

import pytest
from column_programs import COLUMN_CASES
from loop_case import run, source_of
from test_programs import check

from xpu_runtime.codegen import write as write_module
from xpu_runtime.codegen import write_columns as columns_module
from xpu_runtime.codegen.statements import Let, Term
from xpu_runtime.codegen.target import Target
from xpu_runtime.codegen.write import write
from xpu_runtime.codegen.write_columns import write_columns

pytestmark = pytest.mark.usefixtures("device")

COLUMNS = [1, 3, 15, 16, 17, 63, 64, 65, 100, 1000]
FOLDED = [1, 2, 7, 100]
# Bytes beside the arrays of mutated programs, which leave their arrays.
MARGIN = 1 << 20


def cpu(lanes: int) -> Target:
    """One unit, so that blocks of several vectors begin at few columns."""
    return Target(lanes=lanes, units=1, gpu=False, max_items=4096, local_memory=1 << 15)


def gpu(lanes: int) -> Target:
    return Target(lanes=lanes, units=1, gpu=True, max_items=8 * lanes, local_memory=1 << 16)


@pytest.mark.values
@pytest.mark.parametrize("target", [cpu, gpu])
@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize("name", COLUMN_CASES)
def test_columns(xr, rng, name, columns, target):
    for folded in FOLDED:
        case = COLUMN_CASES[name](rng, folded, columns)
        found = run(xr, case.program, case.arguments, target(xr.Device(0).sub_group_size))
        check(case, found)


@pytest.mark.values
@pytest.mark.parametrize("name", COLUMN_CASES)
def test_columns_on_this_device(xr, rng, name):
    case = COLUMN_CASES[name](rng, 33, 1100)
    check(case, run(xr, case.program, case.arguments))


def test_one_source_serves_all_counts_of_rows(rng):
    cases = [COLUMN_CASES["column_sum"](rng, folded, 1000) for folded in (2, 100)]
    kernels = [write(case.program, cpu(16)) for case in cases]
    assert kernels[0].code == kernels[1].code
    assert kernels[0].sizes != kernels[1].sizes


def test_blocks_have_as_many_vectors_as_registers_hold(rng):
    """16 vectors of a word, fewer of more words or of long texts, and fewer still to fill the units."""

    def vectors(name, columns, target, text=()):
        program = COLUMN_CASES[name](rng, 100, columns).program
        (section,) = program.sections
        longer = replace(section, per_element=[*section.per_element, *text])
        source = source_of(write(replace(program, sections=[longer]), target))
        return max(map(int, re.findall(r"\ba0\)?\[(\d+)\] =", source)))

    assert vectors("column_sum", 1024, cpu(16)) == 16
    assert vectors("argmax", 1024, cpu(16)) == 5
    long_text = [Let(f"v{n}", "float", Term("{0} * {0}", ("a",))) for n in range(100)]
    assert vectors("column_sum", 1024, cpu(16), long_text) == 4
    assert vectors("column_sum", 1024, replace(cpu(16), units=16)) == 4
    assert vectors("column_sum", 1024, replace(cpu(16), units=64)) == 1
    assert vectors("column_sum", 1024, gpu(16)) == 4
    assert vectors("column_sum", 1024, replace(gpu(16), units=4)) == 2
    assert vectors("column_sum", 1024, replace(gpu(16), units=64)) == 1


def test_loads_of_several_rows_are_issued_at_once(rng):
    """Only on GPUs, and only if their text is short."""

    def source(target, columns=1024):
        return source_of(write(COLUMN_CASES["column_sum"](rng, 100, columns).program, target))

    assert "unroll 4" in source(gpu(16))
    assert "unroll 4" not in source(cpu(16))


# What is broken: a case that must notice, a pattern in the kernel, and its replacement.
MUTATIONS = {
    "lanes beyond the last column run": ("counts", r"first \+ lane\(\) < \d+", "true"),
    "drops the last block": ("column_sum", r"block < last", "block + 1 < last"),
    "drops the first row": ("column_sum", r"q0 = 0", "q0 = 1"),
    "drops the last row": ("argmax", r"q0 < \(i32\)count", "q0 + 1 < (i32)count"),
    "drops the last vector": ("column_sum", r"element0\(1\);", ""),
    "all blocks are the first": ("column_sum", r"first = min_of\(at", "first = min_of(0"),
    "the last block leaves the array": ("column_sum", r"min_of\((at \* \d+), .*?\);", r"\1;"),
    "stores accumulators": ("two_folds", r"a2\[v\]\.s0 = .*?;", ""),
    "uses results of another vector": ("softmax", r"sum = a1\[v\]", "sum = a1[0]"),
    "uses definitions of another vector": ("softmax", r"share = h2\[v\]", "share = h2[0]"),
    "forgets the outer dimension": ("several_dimensions", r"d0 = row", "d0 = 0"),
    "swaps the coordinates of lanes": ("short_last_dimension", r"\be / 3", "e % 3"),
}


@pytest.mark.values
@pytest.mark.parametrize("what", MUTATIONS)
def test_mutation_is_noticed(xr, rng, monkeypatch, what):
    name, pattern, replacement = MUTATIONS[what]

    def write_mutated(program, target):
        body = write_columns(program, target)
        text, count = re.subn(pattern, replacement, "\n".join(body.lines))
        assert count
        return replace(body, lines=[text])

    monkeypatch.setattr(write_module, "write_columns", write_mutated)
    _expect_wrong_results(xr, COLUMN_CASES[name](rng, 7, 1000))


@pytest.mark.values
def test_columns_of_updates_are_computed_once(xr, rng, monkeypatch):
    monkeypatch.setattr(columns_module, "_may_repeat", lambda program: True)
    _expect_wrong_results(xr, COLUMN_CASES["counts"](rng, 7, 1000))


def _expect_wrong_results(xr, case):
    found = run(xr, case.program, case.arguments, cpu(xr.Device(0).sub_group_size), MARGIN)
    with pytest.raises(AssertionError):
        check(case, found)
