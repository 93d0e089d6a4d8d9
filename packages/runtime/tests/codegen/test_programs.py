"""Loop programs written by hand, run and compared with numpy."""

import numpy as np
import pytest
import row_programs  # noqa: F401 - registers its cases
from loop_case import CASES, run, source_of
from pointwise_programs import brighter_pixels, bytes_by_index

from xpu_runtime.codegen.affine import Affine
from xpu_runtime.codegen.elements import ELEMENTS
from xpu_runtime.codegen.program import Array, LoopProgram, Section
from xpu_runtime.codegen.statements import Let, Load, Store, Term
from xpu_runtime.codegen.target import Target
from xpu_runtime.codegen.write import write
from xpu_runtime.codegen.write_rows import make_team

pytestmark = pytest.mark.usefixtures("device")

# Around the numbers of lanes, the sizes of tiles, and rows too short for lanes.
SHAPES = [(1, 1), (1, 17), (3, 7), (5, 16), (65, 31), (7, 257), (2, 4099), (300, 64)]


def check(case, found):
    for got, expected, before in zip(found, case.expected, case.arguments, strict=True):
        if expected is None:
            np.testing.assert_array_equal(got, before)
        elif got.dtype.kind == "f":
            tolerance = max(case.tolerance, 1e-3 if got.dtype == np.float16 else 0)
            np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance)
        else:
            np.testing.assert_array_equal(got, expected)


@pytest.mark.values
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", CASES)
def test_program(xr, rng, name, shape):
    case = CASES[name](rng, *shape)
    check(case, run(xr, case.program, case.arguments))


@pytest.mark.values
@pytest.mark.parametrize(
    "name", ["row_sum", "argmax", "layer_norm", "softmax_stored_in_local_memory"]
)
@pytest.mark.parametrize("rows", [2, 17])
def test_rows_of_gpus(xr, rng, name, rows):
    """A group computes a long row. Where there are rows for all sub-groups, a sub-group does."""
    lanes = xr.Device(0).sub_group_size
    group = 8 * lanes
    target = Target(lanes=lanes, units=1, gpu=True, max_items=group, local_memory=1 << 16)
    lengths = (1, lanes - 1, lanes, lanes + 1, group - 1, group, group + 1, 4 * group + 3, 1025)
    for columns in lengths:
        case = CASES[name](rng, rows, columns)
        check(case, run(xr, case.program, case.arguments, target))


@pytest.mark.parametrize(("columns", "reads"), [(2, 1), (4096, 1), (4097, 3)])
def test_several_passes_read_a_gpus_row_once(rng, columns, reads):
    """As long as an item's registers hold its elements."""
    gpu = Target(lanes=32, units=132, gpu=True, max_items=1024, local_memory=1 << 16)
    source = source_of(write(CASES["layer_norm"](rng, 3, columns).program, gpu))
    assert source.count("x0[") == reads


def test_the_items_that_share_a_row():
    gpu = Target(lanes=32, units=132, gpu=True, max_items=1024, local_memory=1 << 16)
    assert make_team(4096, 1000, gpu).items == 32
    assert make_team(100, 1000, gpu).items == 256
    assert make_team(4096, 1025, gpu).items == 256
    assert make_team(4096, 1000, gpu, has_caches=True).items == 256


@pytest.mark.values
@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("add", (1, 5_000_001)),
        ("silu_of_sum_with_bias", (1100, 4099)),
        ("layer_norm", (4099, 1040)),
        ("softmax_stored_in_local_memory", (1100, 4099)),
    ],
)
def test_large_results_are_streamed(xr, rng, name, shape):
    case = CASES[name](rng, *shape)
    target = Target.of(xr.Device(0))
    source = source_of(write(case.program, target))
    assert ("streaming_store(" in source) == (not target.gpu)
    check(case, run(xr, case.program, case.arguments))


def test_bytes_of_a_pixel_are_loaded_as_a_word(rng):
    case = brighter_pixels(rng, 6, 64)
    cpu = Target(lanes=16, units=2, gpu=False, max_items=4096, local_memory=1 << 15)
    source = source_of(write(case.program, cpu))
    assert source.count("word_at(") == 1
    gathered = bytes_by_index(rng, 6, 64)
    assert "byte_at(" in source_of(write(gathered.program, cpu))


@pytest.mark.parametrize("count", [2**31 - 1, 2**31, 5 * 2**31])
def test_positions_beyond_an_i32(count):
    """Needs no memory of that size: only the type of positions is looked at."""
    element = ELEMENTS["u8"]
    place = Affine.of(0)
    arrays = [Array(element, count), Array(element, count, True)]
    body = [Load("a", 0, place), Store(1, place, Term("{0}", ("a",)))]
    program = LoopProgram(arrays, (count,), 1, [Section(body)])
    cpu = Target(lanes=16, units=2, gpu=False, max_items=4096, local_memory=1 << 15)
    kernel = write(program, cpu)
    assert "i64 e" in source_of(kernel)
    assert kernel.sizes[0] == count


@pytest.mark.parametrize(
    ("place", "type"), [(Affine.of(0) * 2**20, "i32"), (Affine.of(0) * 2**22, "i64")]
)
def test_positions_of_what_is_computed_beyond_an_i32(place, type):
    """No array has an element there, but the kernel computes with the position."""
    body = [Let("a", "i64", Term("(i64)({0})", (place,))), Store(0, Affine.of(0), "a")]
    program = LoopProgram([Array(ELEMENTS["i64"], 8000, True)], (1000,), 1, [Section(body)])
    cpu = Target(lanes=16, units=2, gpu=False, max_items=4096, local_memory=1 << 15)
    assert f"{type} e" in source_of(write(program, cpu))
