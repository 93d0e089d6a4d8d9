"""Triton's IR as SYCL text: the reader, layouts, index arithmetic, and what is rejected. Touches no device."""

import pytest
import triton  # noqa: F401  # before the back end that it imports
from xpu_runtime.codegen.target import Target

from inductor_xpu.triton.errors import UnsupportedKernelError
from inductor_xpu.triton.ir.read import ReadError, read
from inductor_xpu.triton.ir.types import Pointer, Scalar, Tensor
from inductor_xpu.triton.layouts import (
    LANE,
    Bit,
    default_layout,
    number_text,
    reshape_position,
    row_major_text,
)
from inductor_xpu.triton.translate import translate
from inductor_xpu.triton.writer.linear import ONE, Factor, Linear

CPU = Target(lanes=16, units=2, gpu=False, max_items=8192, local_memory=1 << 18)
GPU = Target(lanes=16, units=64, gpu=True, max_items=1024, local_memory=1 << 16)


def module(body, arguments="%x: !tt.ptr<f32>, %n: i32"):
    return f"""#loc1 = loc("/home/user/kernels.py":7:3)
"builtin.module"() ({{
  "tt.func"() <{{arg_attrs = [{{tt.divisibility = 16 : i32}}, {{}}], sym_name = "k", sym_visibility = "public"}}> ({{
  ^bb0({arguments}):
{body}
    "tt.return"() : () -> () loc(#loc1)
  }}) {{noinline = false}} : () -> () loc(#loc1)
}}) : () -> () loc(#loc1)
"""


COPY = """
    %p = "tt.get_program_id"() <{axis = 0 : i32}> : () -> i32
    %c = "arith.constant"() <{value = 64 : i32}> : () -> i32
    %b = "arith.muli"(%p, %c) : (i32, i32) -> i32
    %r = "tt.make_range"() <{start = 0 : i32, end = 64 : i32}> : () -> tensor<64xi32>
    %s = "tt.splat"(%b) : (i32) -> tensor<64xi32>
    %i = "arith.addi"(%s, %r) : (tensor<64xi32>, tensor<64xi32>) -> tensor<64xi32>
    %q = "tt.splat"(%x) : (!tt.ptr<f32>) -> tensor<64x!tt.ptr<f32>>
    %a = "tt.addptr"(%q, %i) : (tensor<64x!tt.ptr<f32>>, tensor<64xi32>) -> tensor<64x!tt.ptr<f32>>
    %v = "tt.load"(%a) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<64x!tt.ptr<f32>>) -> tensor<64xf32>
    "tt.store"(%a, %v) : (tensor<64x!tt.ptr<f32>>, tensor<64xf32>) -> ()"""


def test_reader_types_attributes_and_lines():
    function = read(module(COPY)).body.ops[0]
    assert function.attributes["sym_name"] == "k"
    assert function.attributes["arg_attrs"] == [{"tt.divisibility": 16}, {}]
    pointers = Tensor((64,), Pointer(Scalar("f32")))
    load = next(op for op in function.body.ops if op.name == "tt.load")
    assert load.operands[0].type == pointers
    assert load.attributes["operandSegmentSizes"] == [1, 0, 0]
    assert str(function.location) == "/home/user/kernels.py:7"


def test_reader_names_of_sibling_regions():
    body = """
    %c = "arith.constant"() <{value = true}> : () -> i1
    %r:2 = "scf.if"(%c) ({
      %1 = "arith.constant"() <{value = 1 : i32}> : () -> i32
      "scf.yield"(%1, %1) : (i32, i32) -> ()
    }, {
      %1 = "arith.constant"() <{value = 2 : i32}> : () -> i32
      "scf.yield"(%n, %1) : (i32, i32) -> ()
    }) : (i1) -> (i32, i32)
    %s = "arith.addi"(%r#0, %r#1) : (i32, i32) -> i32"""
    ops = read(module(body)).body.ops[0].body.ops
    branch, sum_ = ops[1], ops[2]
    assert [value.index for value in sum_.operands] == [0, 1]
    assert len(branch.regions) == 2


def test_reader_says_where():
    with pytest.raises(ReadError, match="line 5: expected the definition of %y"):
        read(module('    "tt.store"(%x, %y) : (i32, i32) -> ()'))


def test_lanes_along_the_first_dimension():
    layout = default_layout((64, 32), (1, 0), lanes=16, teams=4)
    assert layout.lanes == ((1, 0), (1, 1), (1, 2), (1, 3))
    assert layout.teams == ((0, 4), (0, 5))
    assert layout.registers == ((1, 4), (0, 0), (0, 1), (0, 2), (0, 3))
    assert layout.size == 32


def test_small_tiles_are_repeated():
    layout = default_layout((4,), (0,), lanes=16, teams=2)
    assert layout.lanes == ((0, 0), (0, 1), None, None)
    assert layout.teams == (None,)
    assert layout.size == 1


def test_slices_and_transpositions_are_renamed():
    layout = default_layout((8, 32), (1, 0), lanes=16, teams=1)
    rows = layout.without(1)
    assert rows.lanes == (None,) * 4
    assert rows.registers == ((0, 0), (0, 1), (0, 2))
    assert layout.without(1).expanded(1) == layout.projected((8, 1))
    assert layout.transposed((1, 0)).lanes[0] == (0, 0)
    assert layout.reshaped((256,)).registers == ((0, 4), (0, 5), (0, 6), (0, 7))


def test_register_of_a_position():
    layout = default_layout((8, 32), (1, 0), lanes=16, teams=1)
    position = layout.position(lambda bit: Bit("r", bit))
    assert layout.register_bits(position) == tuple(Bit("r", i) for i in range(4))
    widths = {"r": 4, LANE: 4}
    assert number_text(position[1], widths) == "(lane_id + (r & 1) * 16)"
    assert row_major_text(position, widths) == "(lane_id + r * 16)"
    transposed = (position[1][:3], (*position[0], 0, 0))
    assert layout.register_bits(transposed) is None


def test_reshapes_keep_the_order():
    position = (tuple(Bit("r", i) for i in range(6)),)
    rows, columns = reshape_position(position, (64,), (4, 16))
    assert [source.index for source in columns] == [0, 1, 2, 3]
    assert [source.index for source in rows] == [4, 5]


def test_sums_split_off_lanes():
    lanes = Linear.of_coordinate(Bit(LANE, i) for i in range(4))
    start = Linear.of(Factor("s", multiple=64, nonnegative=True))
    rest, own = (start + lanes).split_lanes()
    assert (rest, own) == (start, lanes)
    assert (Linear.of(Factor("s")) + lanes).split_lanes() is None  # may begin anywhere
    assert lanes.scaled(2).split_lanes() is None
    assert (start.scaled(3) + lanes).text({LANE: 4}) == "(i64)s * 3 + (i64)lane_id"
    assert Linear(0, {(ONE, Bit("r", 1)): 8}).text({"r": 3}) == "(i64)((r >> 1) & 1) * 8"


def test_copy_is_one_loop_without_an_array():
    source = translate(module(COPY), CPU, 4).source
    assert source.count("for (") == 1 or source.count(" for (i32") == 1
    assert "local_memory" not in source


def test_launch_of_a_translation():
    cpu, gpu = translate(module(COPY), CPU, 4), translate(module(COPY), GPU, 4)
    assert (cpu.name, cpu.types, cpu.group) == ("k", "pi4", 16)
    assert gpu.group == 128
    assert translate(module(COPY), GPU, 64).group == 1024  # no more than a group may have


def test_assertions_have_faults():
    body = """
    %c = "arith.cmpi"(%n, %n) <{predicate = 2 : i64}> : (i32, i32) -> i1
    "tt.assert"(%c) <{message = "n is {a}"}> : (i1) -> () loc(#loc1)"""
    made = translate(module(body), CPU, 4)
    assert made.types == "pi4pu4"
    assert made.faults == (("tl.device_assert", "n is { a } (/home/user/kernels.py:7)"),)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ('%y = "tt.dot_scaled"(%n) : (i32) -> i32 loc(#loc1)', "kernels.py:7: tt.dot_scaled"),
        ('%y = "tt.map_elementwise"(%n) : (i32) -> i32', "operations of tl"),
        ('%y = "tt.elementwise_inline_asm"(%n) : (i32) -> i32', "assembly of another device"),
        ('%y = "tt.unheard_of"(%n) : (i32) -> i32', "not supported on xpu"),
    ],
)
def test_rejected_operations(body, message):
    with pytest.raises(UnsupportedKernelError, match=message):
        translate(module(f"    {body}"), CPU, 4)


def test_kernels_that_wait_are_rejected():
    body = """
    %t = "arith.constant"() <{value = true}> : () -> i1
    "scf.while"() ({
      %o = "tt.atomic_rmw"(%x, %n, %t) <{atomic_rmw_op = 4 : i32, scope = 1 : i32, sem = 1 : i32}> : (!tt.ptr<i32>, i32, i1) -> i32 loc(#loc1)
      %d = "arith.cmpi"(%o, %n) <{predicate = 2 : i64}> : (i32, i32) -> i1
      "scf.condition"(%d) : (i1) -> ()
    }, {
      "scf.yield"() : () -> ()
    }) : () -> ()"""
    with pytest.raises(UnsupportedKernelError, match="waits here for another work-group"):
        translate(module(body, "%x: !tt.ptr<i32>, %n: i32"), CPU, 4)


def test_early_returns_are_branches():
    body = """
    %c = "arith.cmpi"(%n, %n) <{predicate = 2 : i64}> : (i32, i32) -> i1
    "cf.cond_br"(%c)[^bb1, ^bb2] <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (i1) -> ()
  ^bb1:
    "tt.return"() : () -> ()
  ^bb2:
    %one = "arith.constant"() <{value = 1.0 : f32}> : () -> f32
    "tt.store"(%x, %one) : (!tt.ptr<f32>, f32) -> ()"""
    source = translate(module(body), CPU, 4).source
    assert source.index("else {") < source.index("x0[0] =")
