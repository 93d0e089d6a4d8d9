"""Loop programs whose sizes are symbols: one kernel serves all values."""

import numpy as np
import pytest
import random_programs
from loop_case import run
from symbolic_programs import SYMBOLIC, with_symbols

from xpu_runtime.codegen.division import Division  # noqa: F401 - for eval
from xpu_runtime.codegen.sizes import Symbol
from xpu_runtime.codegen.target import Target
from xpu_runtime.codegen.write import write

CPU = Target(lanes=16, units=2, gpu=False, max_items=4096, local_memory=1 << 15)
# Rows and columns: around the number of lanes, of a group and of several accumulators, hints, and none.
SHAPES = [
    (1, 1),
    (3, 15),
    (1, 16),
    (5, 17),
    (3, 100),
    (40, 300),
    (2, 1000),
    (1000, 3),
    (1, 9000),
    (3, 0),
]
# Hints for each form: lines, rows, and rows of a group with several accumulators.
HINTS = [(40, 3), (40, 300), (1, 5000)]


def targets(xr):
    lanes = xr.Device(0).sub_group_size
    gpu = Target(lanes=lanes, units=1, gpu=True, max_items=8 * lanes, local_memory=1 << 16)
    return {"device": Target.of(xr.Device(0)), "gpu": gpu}


@pytest.mark.values
@pytest.mark.parametrize("hints", HINTS, ids=str)
@pytest.mark.parametrize("kind", ["device", "gpu"])
@pytest.mark.parametrize("name", SYMBOLIC)
def test_symbolic_program(xr, rng, name, kind, hints):
    case = SYMBOLIC[name](*(Symbol(f"n{number}", hint) for number, hint in enumerate(hints)))
    target = targets(xr)[kind]
    for rows, columns in SHAPES:
        launch = case.launch(rng, rows, columns)
        outputs = [np.full_like(array, -7) for array in launch.expected]
        arguments = [a if a.size else np.zeros(1, a.dtype) for a in (*launch.arguments, *outputs)]
        found = run(xr, case.program, arguments, target, values=launch.values)
        for got, expected in zip(found[len(launch.arguments) :], launch.expected, strict=True):
            if expected.size:
                np.testing.assert_array_equal(got.reshape(expected.shape), expected)


@pytest.mark.values
@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("target", ["device", "gpu"])
@pytest.mark.parametrize("kind", random_programs.KINDS)
def test_random_program_with_symbols(xr, kind, target, seed):
    rng = np.random.default_rng(seed)
    program, arrays = random_programs.KINDS[kind](rng)
    written, values = with_symbols(rng, program)
    assert not random_programs.difference(
        xr, program, arrays, written=written, values=values, target=targets(xr)[target]
    )
