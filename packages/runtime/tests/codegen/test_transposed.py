"""On CPUs, blocks of arrays that are read across their rows go through local memory."""

import numpy as np
import pytest
from loop_case import at, pointwise, run, source_of, whole

from xpu_runtime.codegen.affine import Affine
from xpu_runtime.codegen.statements import Let, Load, Store, Term
from xpu_runtime.codegen.target import Target
from xpu_runtime.codegen.write import write

CPU = Target(lanes=16, units=2, gpu=False, max_items=4096, local_memory=1 << 15)


def sum_with_transposed(*shape, dtype=np.float32, in_place=False):
    """``x + y.swapaxes(-1, -2)``, into x or into another array."""
    *outer, rows, columns = shape
    stride, strides = rows * columns, []
    for size in reversed(outer):
        strides.insert(0, stride)
        stride *= size
    rng = np.random.default_rng(0)
    x = rng.integers(0, 50, shape).astype(dtype)
    y = rng.integers(0, 50, (*outer, columns, rows)).astype(dtype)
    statements = [
        Load("of_x", 0, whole(*shape)),
        Load("of_y", 1, at(*strides, 1, rows)),
        Let("result", "float", Term("{0} + {1}", ("of_x", "of_y"))),
        Store(0 if in_place else 2, whole(*shape), "result"),
    ]
    expected = (x + y.swapaxes(-1, -2)).astype(dtype)
    arguments = [x, y] if in_place else [x, y, np.zeros_like(x)]
    results = [expected, None] if in_place else [None, None, expected]
    return pointwise(shape, statements, arguments, results)


def scaled_transposed(rows, columns):
    """``y.T * sqrt(z[0])``, whose root is computed before the loops."""
    y = np.random.default_rng(0).integers(0, 50, (columns, rows)).astype(np.float32)
    z = np.full(1, 9, np.float32)
    statements = [
        Load("of_z", 1, Affine()),
        Let("root", "float", Term("sqrt({0})", ("of_z",))),
        Load("of_y", 0, at(1, rows)),
        Let("result", "float", Term("{0} * {1}", ("of_y", "root"))),
        Store(2, whole(rows, columns), "result"),
    ]
    arguments = [y, z, np.zeros((rows, columns), np.float32)]
    return pointwise((rows, columns), statements, arguments, [None, None, y.T * 3])


def is_staged(case, target=CPU):
    return "staged0" in source_of(write(case.program, target))


@pytest.mark.values
@pytest.mark.parametrize(
    "case",
    [
        sum_with_transposed(64, 256),
        sum_with_transposed(67, 300),
        sum_with_transposed(3, 2, 33, 129),
        sum_with_transposed(70, 260, dtype=np.float16),
        sum_with_transposed(500, 1000, dtype=np.float16),
        sum_with_transposed(500, 1000, dtype=np.int64),
        sum_with_transposed(70, 260, in_place=True),
        sum_with_transposed(2100, 2081),  # streamed; rows end within a cache line
        sum_with_transposed(2100, 2048),
        scaled_transposed(67, 300),
    ],
    ids=[
        "blocks",
        "uneven",
        "outer",
        "f16",
        "f16, high blocks",
        "i64",
        "in place",
        "large, uneven",
        "large",
        "hoisted",
    ],
)
def test_a_sum_with_a_transposed_array(xr, case):
    target = Target.of(xr.Device(0))
    assert is_staged(case, target) != target.gpu
    got = run(xr, case.program, case.arguments)
    for array, expected in zip(got, case.expected, strict=True):
        if expected is not None:
            np.testing.assert_array_equal(array, expected)


def test_arrays_that_are_not_staged():
    assert is_staged(sum_with_transposed(16, 128))
    assert not is_staged(sum_with_transposed(15, 128))
    assert not is_staged(sum_with_transposed(16, 127))
    case = sum_with_transposed(64, 256)
    assert not is_staged(case, Target(32, 64, True, 1024, 1 << 16))
    written = case.program.sections[0].per_element
    written[1:1] = [Store(1, whole(64, 256), "1.0f")]
    case.program.arrays[1] = case.program.arrays[2]
    assert not is_staged(case)
