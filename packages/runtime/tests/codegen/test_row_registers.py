"""What several passes over a GPU's row load is loaded once, and nothing else takes its place."""

import numpy as np
import pytest
from loop_case import HEADERS, at, run, total

from xpu_runtime.codegen.affine import Affine
from xpu_runtime.codegen.elements import ELEMENTS
from xpu_runtime.codegen.program import Array, LoopProgram, Section
from xpu_runtime.codegen.row_registers import keep_rows
from xpu_runtime.codegen.statements import Let, Load, Recall, Store, Term
from xpu_runtime.codegen.target import Target

pytestmark = pytest.mark.usefixtures("device")

ROWS, COLUMNS = 3, 100
WHOLE = at(COLUMNS, 1)


def program(last, writable=False):
    """The sum of x, the sum of x again, and the last pass's value ``y`` plus the latter."""
    arrays = [Array(ELEMENTS["f32"], 4 * ROWS * COLUMNS, written) for written in (writable, True)]
    sections = [
        Section([Load("a", 0, WHOLE)], [total("sum_a", "a")]),
        Section([Load("b", 0, WHOLE)], [total("sum_b", "b")]),
        Section(
            [
                last,
                Let("result", "float", Term("{0} + {1}", ("y", "sum_b"))),
                Store(0 if writable else 1, WHOLE, "result"),
            ]
        ),
    ]
    return LoopProgram(arrays, (ROWS, COLUMNS), 1, sections, headers=HEADERS)


def recalled(program):
    changed, registers = keep_rows(program, COLUMNS, 32)
    names = [
        s.name for section in changed.sections for s in section.per_element if type(s) is Recall
    ]
    return names, len(registers.loads)


def test_a_load_of_all_passes_is_one():
    assert recalled(program(Load("y", 0, WHOLE))) == (["a", "b", "y"], 1)


def test_a_row_that_is_written_is_loaded_again():
    assert recalled(program(Load("y", 0, WHOLE), writable=True)) == ([], 0)


MASKED = Load("y", 0, WHOLE, Term("{0} < 3", (Affine.of(1),)), "7.0f")


def test_a_masked_load_has_its_own_value():
    assert recalled(program(MASKED)) == (["a", "b"], 1)


@pytest.mark.values
@pytest.mark.parametrize("last", [Load("y", 0, WHOLE), MASKED], ids=["whole", "masked"])
def test_the_values(xr, rng, last):
    lanes = xr.Device(0).sub_group_size
    target = Target(lanes=lanes, units=1, gpu=True, max_items=8 * lanes, local_memory=1 << 16)
    x = rng.standard_normal((ROWS, COLUMNS)).astype(np.float32)
    y = x if last.mask is None else np.where(np.arange(COLUMNS) < 3, x, np.float32(7))
    _, got = run(xr, program(last), [x, np.zeros_like(x)], target)
    np.testing.assert_allclose(got, y + x.sum(1, keepdims=True), rtol=1e-5, atol=1e-5)
