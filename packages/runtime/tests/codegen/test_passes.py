"""The passes over statements, without a device."""

from dataclasses import replace

from loop_case import at, total

from xpu_runtime.codegen.affine import Affine, dot
from xpu_runtime.codegen.byte_loads import is_regular
from xpu_runtime.codegen.elements import ELEMENTS
from xpu_runtime.codegen.hoist import hoist, hoist_uniform
from xpu_runtime.codegen.kernel import module_source
from xpu_runtime.codegen.loops import join
from xpu_runtime.codegen.program import Array, LoopProgram, Section
from xpu_runtime.codegen.share import share_codes
from xpu_runtime.codegen.statements import Block, If, Let, Load, Set, Store, Term, Var
from xpu_runtime.codegen.target import Target
from xpu_runtime.codegen.unused import drop_unused
from xpu_runtime.codegen.write import write

CPU = Target(lanes=16, units=2, gpu=False, max_items=4096, local_memory=1 << 15)
F32 = ELEMENTS["f32"]


def test_loops_are_joined_where_every_position_allows():
    i, j, k = (Affine.of(n) for n in range(3))
    rows = dot((i, j, k), (20, 5, 1))
    assert join((3, 4, 5), [rows]).sizes == [60]
    transposed = dot((i, j, k), (20, 1, 4))
    assert join((3, 4, 5), [rows, transposed]).sizes == [3, 4, 5]
    broadcast = dot((i, j, k), (0, 5, 1))
    assert join((3, 4, 5), [rows, broadcast]).sizes == [3, 20]
    assert join((3, 4, 5), [rows], boundary=1).sizes == [3, 20]


def test_what_nothing_uses_is_dropped():
    place = Affine.of(0) + Affine.of("at")
    guarded = If("mask", [Store(1, place, "used"), Let("lost", "float", "unused")])
    program = LoopProgram(
        [Array(F32, 400), Array(F32, 400, True)],
        (10, 10),
        1,
        [
            Section(
                [
                    Load("unused", 0, Affine.of(1)),
                    Load("used", 0, Affine.of(1)),
                    Load("mask", 0, Affine.of(1)),
                    Let("at", "i32", "0"),
                    Let("of_row", "float", "1.0f"),
                    Let("of_fold", "float", "2.0f"),
                    guarded,
                ],
                [total("sum", "of_fold")],
                [
                    Let("twice", "float", Term("{0} + {1}", ("sum", "of_row"))),
                    Let("no", "i32", "1"),
                ],
            ),
            Section([Let("each", "float", "twice"), Store(1, Affine.of(1), "each")]),
        ],
    )
    first, second = drop_unused(program).sections
    assert [s.name for s in first.per_element[:-1]] == ["used", "mask", "at", "of_row", "of_fold"]
    assert first.per_element[-1] == If("mask", [Store(1, place, "used")], [])
    assert [s.name for s in first.per_row] == ["twice"]
    assert second.per_element == program.sections[1].per_element


def test_what_depends_on_the_row_alone_is_hoisted():
    load = Load("a", 0, Affine.of(1))
    mean = Let("mean", "float", Term("{0} / 8.0f", ("sum",)))
    scale = Let("scale", "float", Term("{0} * 2.0f", ("mean",)))
    each = Let("b", "float", Term("{0} - {1}", ("a", "scale")))
    counted = Let("counted", "float", Term("(float)({0})", (Affine.of(1),)))
    changed = Var("total", "float", "0.0f")
    used = Block([scale, Set("total", "scale")])
    once, rest = hoist([load, mean, changed, used, each, counted])
    assert once == [mean, scale]
    assert rest == [load, changed, Block([Set("total", "scale")]), each, counted]


def test_what_may_not_run_is_not_hoisted():
    """A condition may protect a division."""
    divide = Let("share", "i32", Term("12 / {0}", ("count",)))
    guarded = If(Term("{0} != 0", ("count",)), [divide, Set("total", "share")], [])
    assert hoist([guarded]) == ([], [guarded])


def test_names_of_several_bodies_are_not_hoisted():
    first = Block([Let("t0", "float", Term("{0} * 2.0f", ("sum",))), Set("total", "t0")])
    second = Block([Let("t0", "float", Term("{0} * 3.0f", ("sum",))), Set("total", "t0")])
    assert hoist([first, second]) == ([], [first, second])
    assert len(hoist([first])[0]) == 1
    assert hoist([first], taken={"t0"}) == ([], [first])


def test_what_depends_on_single_elements_is_hoisted():
    arrays = [Array(F32, None), Array(F32, None), Array(F32, None, True)]
    step, each = Load("step", 0, Affine(2)), Load("x", 1, Affine.of(0))
    scale = Let("scale", "float", Term("exp({0})", ("step",)))
    scaled = Let("y", "float", Term("{0} * {1}", ("x", "scale")))
    store = Store(2, Affine.of(0), "y")
    once, rest = hoist_uniform([each, step, scale, scaled, store], arrays)
    assert once == [step, scale]
    assert rest == [each, scaled, store]


def test_single_elements_that_the_kernel_writes_or_masks_are_not_hoisted():
    arrays = [Array(F32, None), Array(F32, None, True)]
    written, masked = Load("a", 1, Affine()), Load("b", 0, Affine(), "is_inside", "0.0f")
    guarded = If("is_inside", [Load("c", 0, Affine())])
    statements = [written, masked, guarded, Let("one", "float", "1.0f")]
    assert hoist_uniform(statements, arrays) == ([], statements)


def test_positions_as_numbers_and_conditions_are_irregular():
    load = Load("a", 0, Affine.of(0))
    assert is_regular([load, Let("b", "float", Term("-{0}", ("a",)))])
    assert not is_regular([load, Let("b", "float", Term("(float)({0})", (Affine.of(0),)))])
    assert not is_regular([If("true", [load])])
    assert not is_regular([Load("a", 0, Affine.of("i"))])


def _copy(offset: int, factor: int = 1):
    body = [
        Load("a", 0, at(factor, offset=offset)),
        Load("b", 0, at(factor, offset=offset + 1)),
        Store(1, at(1), Term("{0} + {1} * 3", ("a", "b"))),
    ]
    arrays = [Array(F32, 4 * 10_000), Array(F32, 4 * 99, True)]
    return write(LoopProgram(arrays, (99,), 1, [Section(body)]), CPU)


def test_kernels_that_differ_in_offsets_share_a_code():
    many = {number: _copy(number + 1) for number in range(20)} | {99: _copy(1, factor=5)}
    shared = share_codes(many)
    assert len({shared[number].code for number in range(20)}) == 1
    text = shared[7].code.text("k")
    assert "i64 count, i64 width, i64 place0, i64 place1) {" in text
    assert "x0[e + place0]" in text
    assert "x0[e + place1]" in text
    assert shared[7].sizes == (*many[7].sizes, 8, 9)
    assert shared[99] is many[99]
    few = {number: _copy(number + 1) for number in range(3)}
    assert share_codes(few) == few


def test_too_many_offsets_stay_numbers():
    """A kernel has at most 40 arguments."""
    loads = [Load(f"v{k}", 0, Affine(100 * k)) for k in range(40)]

    def moved(by: int):
        body = [replace_offset(load, by + number) for number, load in enumerate(loads)]
        body.append(Store(1, at(1), "v0"))
        arrays = [Array(F32, 4 * 10_000), Array(F32, 4 * 99, True)]
        return write(LoopProgram(arrays, (99,), 1, [Section(body)]), CPU)

    def replace_offset(load: Load, by: int) -> Load:
        return load._replace(position=load.position + by + 1)

    many = {by: moved(by) for by in range(12)}
    assert share_codes(many) == many


def test_headers_of_a_module_are_those_of_its_kernels():
    kernel = _copy(1)
    with_exp = replace(kernel.code, headers=("exp",))
    source = module_source([("a", kernel.code), ("b", with_exp)])
    assert source.count("#include") == 2
    assert "#include <xpu/exp.h>" in source
    assert "XPU_KERNEL(1) a(" in source
    assert "XPU_KERNEL(1) b(" in source


def test_results_of_rows_are_stored_by_one_lane():
    section = Section([Load("a", 0, at(8, 1))], [total("sum", "a")], [Store(1, at(1, 0), "sum")])
    program = LoopProgram([Array(F32, 32 * 8), Array(F32, 32, True)], (8, 8), 1, [section])
    text = write(program, CPU).code.text("k")
    assert "if (lane() == 0) { x1[d0] = sum; }" in text
