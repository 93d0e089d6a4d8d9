"""Slow values of rows are program in local memory, where several sections compute them and that is right."""

from dataclasses import replace

import numpy as np
import pytest
from loop_case import HEADERS, at, fold, run, total

from xpu_runtime.codegen.elements import ELEMENTS
from xpu_runtime.codegen.keep_values import keep_slow_values
from xpu_runtime.codegen.program import Array, LoopProgram, Section
from xpu_runtime.codegen.sizes import Symbol
from xpu_runtime.codegen.statements import Keep, Let, Load, Recall, Store, Term, walk
from xpu_runtime.codegen.target import Target

CPU = Target(lanes=16, units=2, gpu=False, max_items=4096, local_memory=1 << 15)
F32 = ELEMENTS["f32"]


def softmax(rows, columns, written=False, slow="exp({0})"):
    """Each section loads x anew and computes what it needs, as Inductor writes it."""

    def difference(n):
        return [
            Load(f"x_{n}", 0, at(columns, 1)),
            Let(f"difference_{n}", "float", Term("{0} - {1}", (f"x_{n}", "high"))),
            Let(f"slow_{n}", "float", Term(slow, (f"difference_{n}",))),
            Let(f"twice_{n}", "float", Term("{0} + {0}", (f"slow_{n}",))),
        ]

    high = fold("high", "float", "-infinity()", ("maximum({0}, {1})", "x_0"), "maximum({0}, {1})")
    result = Let("result", "float", Term("{0} / {1}", ("twice_2", "sum")))
    place = at(columns, 1)
    sections = [
        Section([Load("x_0", 0, place)], [high]),
        Section(difference(1), [total("sum", "twice_1")]),
        Section([*difference(2), result, Store(0 if written else 1, place, "result")]),
    ]
    arrays = [Array(F32, 4 * rows * columns, n == 1 or written) for n in range(2)]
    return LoopProgram(arrays, (rows, columns), 1, sections, headers=(*HEADERS, "limits"))


def test_the_last_common_value_is_kept_once():
    program = keep_slow_values(softmax(3, 100), CPU)
    assert [cache.type for cache in program.caches] == ["float"]
    keeps = [s for s in walk(program.sections[1].per_element) if isinstance(s, Keep)]
    recalled = [s for s in walk(program.sections[2].per_element) if isinstance(s, Recall)]
    assert [keep.value for keep in keeps] == ["twice_1"]
    assert [recall.name for recall in recalled] == ["twice_2"]


@pytest.mark.parametrize(
    "program",
    [
        softmax(3, 100, slow="{0} * 3.0f"),  # reading x again is as fast
        softmax(3, 100, written=True),  # x may have changed
        softmax(3, 9000),  # a row has no room
        replace(softmax(3, 100), lanes_on_parallel=True),
        replace(softmax(3, 100), shape=(3, Symbol("n0", 100))),
        replace(softmax(3, 100), sections=softmax(3, 100).sections[2:]),
    ],
    ids=["fast", "written", "long", "columns", "symbol", "one section"],
)
def test_values_that_are_not_kept(program):
    assert keep_slow_values(program, CPU) is program


@pytest.mark.values
@pytest.mark.parametrize("columns", [1, 15, 16, 17, 100, 1000])
@pytest.mark.parametrize("gpu", [False, True])
def test_a_program_that_keeps_values(xr, columns, gpu):
    lanes = xr.Device(0).sub_group_size
    items = 8 * lanes if gpu else 4096
    target = Target(lanes=lanes, units=1, gpu=gpu, max_items=items, local_memory=1 << 16)
    x = np.random.default_rng(0).standard_normal((5, columns)).astype(np.float32)
    program = keep_slow_values(softmax(5, columns), target)
    assert program.caches
    _, got = run(xr, program, [x, np.zeros_like(x)], target)
    exponentials = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(got, exponentials / exponentials.sum(1, keepdims=True), rtol=1e-5)
