"""Loop programs whose sizes are symbols: one kernel serves all values."""

from dataclasses import replace

import numpy as np
import pytest
import random_programs
from loop_case import run, source_of, total
from symbolic_programs import SYMBOLIC, with_symbols

from xpu_runtime.codegen import tiles, write_pointwise, write_rows
from xpu_runtime.codegen.affine import Affine, dot, row_major
from xpu_runtime.codegen.check import ProgramError
from xpu_runtime.codegen.division import Division
from xpu_runtime.codegen.elements import ELEMENTS
from xpu_runtime.codegen.loops import join
from xpu_runtime.codegen.program import Array, Cache, LoopProgram, Section
from xpu_runtime.codegen.sizes import Product, Symbol, hint_of
from xpu_runtime.codegen.statements import Keep, Let, Load, Store
from xpu_runtime.codegen.target import Target
from xpu_runtime.codegen.write import write

CPU = Target(lanes=16, units=2, gpu=False, max_items=4096, local_memory=1 << 15)
GPU = Target(lanes=16, units=8, gpu=True, max_items=128, local_memory=1 << 16)
N, M = Symbol("n0", 64), Symbol("n1", 300)

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


def device_target(xr, kind):
    if kind == "device":
        return Target.of(xr.Device(0))
    lanes = xr.Device(0).sub_group_size
    return Target(lanes=lanes, units=1, gpu=True, max_items=8 * lanes, local_memory=1 << 16)


@pytest.mark.usefixtures("device")
@pytest.mark.values
@pytest.mark.parametrize("hints", HINTS, ids=str)
@pytest.mark.parametrize("kind", ["device", "gpu"])
@pytest.mark.parametrize("name", SYMBOLIC)
def test_program_with_symbols(xr, rng, name, kind, hints):
    case = SYMBOLIC[name](*(Symbol(f"n{number}", hint) for number, hint in enumerate(hints)))
    for rows, columns in SHAPES:
        launch = case.launch(rng, rows, columns)
        outputs = [np.full_like(array, -7) for array in launch.expected]
        arguments = [a if a.size else np.zeros(1, a.dtype) for a in (*launch.arguments, *outputs)]
        target = device_target(xr, kind)
        found = run(xr, case.program, arguments, target, values=launch.values)
        for got, expected in zip(found[len(launch.arguments) :], launch.expected, strict=True):
            if expected.size:
                np.testing.assert_array_equal(got.reshape(expected.shape), expected)


@pytest.mark.usefixtures("device")
@pytest.mark.values
@pytest.mark.parametrize(("name", "hints"), [("line", (1, 5_000_000)), ("broadcast", (1100, 4099))])
def test_results_with_large_hints_are_streamed(xr, rng, name, hints):
    case = SYMBOLIC[name](*(Symbol(f"n{number}", hint) for number, hint in enumerate(hints)))
    target = Target.of(xr.Device(0))
    source = source_of(write(case.program, target))
    assert ("streaming_store(" in source) == (not target.gpu)
    for rows, columns in [(3, 5), (7, 129), (900, 5001)]:
        launch = case.launch(rng, rows, columns)
        outputs = [np.full_like(array, -7) for array in launch.expected]
        found = run(xr, case.program, launch.arguments + outputs, target, values=launch.values)
        np.testing.assert_array_equal(found[-1], launch.expected[0])


def difference(xr, kind, target, seed, margin=0):
    rng = np.random.default_rng(seed)
    program, arrays = random_programs.KINDS[kind](rng)
    written, values = with_symbols(rng, program)
    more = {"written": written, "values": values, "target": device_target(xr, target)}
    return random_programs.difference(xr, program, arrays, margin, **more)


@pytest.mark.usefixtures("device")
@pytest.mark.values
@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("target", ["device", "gpu"])
@pytest.mark.parametrize("kind", random_programs.KINDS)
def test_random_program_with_symbols(xr, kind, target, seed):
    assert not difference(xr, kind, target, seed)


def _loop_of_hint(call, index, count, target, first, end, team=None):
    return tiles.loop_over(call, index, hint_of(count), target, first, end, team)


def _coordinates_of_hints(sizes, counter, index, prefix="d"):
    return tiles.declare_coordinates([hint_of(size) for size in sizes], counter, index, prefix)


_launch = Division.launch


def _launch_of_hints(division, values):
    """Forget the columns: launch as many tiles as one column needs."""
    return _launch(replace(division, columns=(1,)), values)


MUTATIONS = {
    "loops of hints": ("pointwise", write_pointwise, "loop_over", _loop_of_hint),
    "loops along rows of hints": ("rows", write_rows, "loop_over", _loop_of_hint),
    "coordinates of hints": (
        "pointwise",
        write_pointwise,
        "declare_coordinates",
        _coordinates_of_hints,
    ),
    "row coordinates of hints": (
        "rows",
        write_rows,
        "declare_coordinates",
        _coordinates_of_hints,
    ),
    "too few tiles": ("pointwise", Division, "launch", _launch_of_hints),
}


@pytest.mark.usefixtures("device")
@pytest.mark.values
@pytest.mark.parametrize("what", MUTATIONS)
def test_mutation_is_noticed(xr, monkeypatch, what):
    kind, module, name, broken = MUTATIONS[what]
    monkeypatch.setattr(module, name, broken)
    if any(difference(xr, kind, "device", seed, margin=1 << 20) for seed in range(30)):
        return
    pytest.fail("30 random programs gave right results")


# -- without a device


def test_products_of_sizes():
    assert N * 1 == 1 * N == N
    assert N * 0 == 0
    assert N * M == M * N == Product(1, (N, M))
    assert (N * 2) * (M * 3) == N * M * 6
    assert str(N * 3 * M) == "(3 * n0 * n1)"
    assert (N * 3 * M).hint == 3 * 64 * 300
    assert row_major((2, N, M)) == (N * M, M, 1)


def test_positions_with_symbols():
    place = dot((Affine.of(0), Affine.of(1)), (N, 1)) + Affine.of("n1") * 2
    assert place.text({0: "i", 1: "j"}) == "i * n0 + j + n1 * 2"
    with pytest.raises(TypeError):
        place + place
    with pytest.raises(TypeError):
        (place + 1) * N
    assert place + Affine.of(2) * M == dot(tuple(map(Affine.of, (0, 1, 2))), (N, 1, M)) + (
        Affine.of("n1") * 2
    )


def test_dimensions_are_joined_where_symbols_agree():
    i, j, k = (Affine.of(number) for number in range(3))
    contiguous = dot((i, j, k), row_major((2, N, M)))
    assert join((2, N, M), [contiguous]).sizes == [2 * N * M]
    assert join((2, N, M), [contiguous, i + j * 0]).sizes == [2, N * M]
    other = dot((i, j, k), (Symbol("m0", 64 * 300), M, 1))
    assert join((2, N, M), [other]).sizes == [2, N * M]
    assert join((2, N, 3), [dot((i, j, k), (0, 3, 1))]).sizes == [2, N * 3]


def _copy(shape, symbols, target=CPU, **more):
    place = dot(tuple(map(Affine.of, range(len(shape)))), row_major(shape))
    body = [Load("a", 0, place), Store(1, place, "a")]
    arrays = [Array(ELEMENTS["f32"], None), Array(ELEMENTS["f32"], None, True)]
    given = {"wide": False, **more}
    dims = given.pop("parallel_dims", len(shape))
    return LoopProgram(arrays, shape, dims, [Section(body)], symbols=symbols, **given)


@pytest.mark.parametrize("target", [CPU, GPU])
@pytest.mark.parametrize("shape", [(7,), (3, 4099), (100, 300)])
@pytest.mark.parametrize("dims", [1, 2])
def test_division_is_that_of_numbers(target, shape, dims):
    """A kernel whose symbols have the values of another's numbers is launched like it."""
    dims = min(dims, len(shape))
    symbols = [Symbol(f"n{number}", size) for number, size in enumerate(shape)]
    kernel = write(_copy(tuple(symbols), symbols, parallel_dims=dims), target)
    fixed = write(_copy(shape, (), parallel_dims=dims), target)
    values = {symbol.name: symbol.hint for symbol in symbols}
    assert fixed.division.launch({}) == (fixed.groups, fixed.sizes)
    assert kernel.division.launch(values) == (kernel.groups, kernel.sizes)
    assert (kernel.groups, kernel.sizes[:2]) == (fixed.groups, fixed.sizes[:2])


def test_division_is_plain_data():
    division = write(_copy((N, 3, M), [M, N]), CPU).division
    again = eval(repr(division), {"Division": Division, "Target": Target})
    assert again == division
    values = {"n0": 5, "n1": 1000}
    assert again.launch(values | {"other": 1}) == division.launch(values)


@pytest.mark.parametrize("values", [(0, 5), (5, 0), (0, 0)])
def test_no_elements_need_no_groups(values):
    given = dict(zip(("n0", "n1"), values, strict=True))
    assert write(_copy((N, M), [N, M]), CPU).division.launch(given)[0] == 0


def _fold(**more):
    section = Section([Load("a", 0, Affine.of(1)), Keep("kept", "a")], [total("sum", "a")])
    return LoopProgram([Array(ELEMENTS["f32"], None)], (4, N), 1, [section], **more)


def _naming(name):
    return replace(_copy((N,), [N]), sections=[Section([Let(name, "i32", "0")])])


WRONG = {
    "symbol of a size that is not listed": (_copy((N, M), [N]), "n1"),
    "symbol with another hint": (_copy((N,), [Symbol("n0", 3)]), "n0"),
    "stride that is not listed": (
        replace(_copy((4,), [N]), sections=[Section([Load("a", 0, Affine.of(0) * M)])]),
        "n1",
    ),
    "offset that is not listed": (
        replace(_copy((4,), [N]), sections=[Section([Load("a", 0, Affine.of("n1"))])]),
        "n1",
    ),
    "equal names": (_copy((N,), [N, Symbol("n0", 3)]), "symbols"),
    "a name of the writers": (_copy((N,), [N, Symbol("column_tiles", 3)]), "column_tiles"),
    "a name of a copy": (_copy((N,), [N, Symbol("n0_arg", 3)]), "n0_arg"),
    "no identifier": (_copy((N,), [N, Symbol("n 0", 3)]), "n 0"),
    "a value with the name of a symbol": (_naming("n0"), "n0"),
    "hint of no elements": (_copy((Symbol("n0", 0),), [Symbol("n0", 0)]), "shape[0]"),
    "unknown type of positions": (_copy((N,), [N], wide=None), "wide"),
    "unknown bytes": (_copy((4,), (), wide=None), "wide"),
    "cache of unknown size": (
        _fold(symbols=[N], wide=False, caches=[Cache("kept", "float")]),
        "kept",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_program(what):
    wrong, name = WRONG[what]
    with pytest.raises(ProgramError) as raised:
        write(wrong, CPU)
    assert raised.value.name == name


def test_positions_are_of_the_type_that_the_program_says():
    assert "const i32 n0 = (i32)n0_arg;" in write(_copy((N,), [N]), CPU).code.text("k")
    assert "const i64 n0 = (i64)n0_arg;" in write(_copy((N,), [N], wide=True), CPU).code.text("k")
