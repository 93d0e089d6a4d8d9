"""Softmax multiplies by the reciprocal of its sum, once a row; other quotients stay quotients."""

from dataclasses import replace

import numpy as np
import pytest
from loop_case import HEADERS, at, fold, run, total

from xpu_runtime.codegen.elements import ELEMENTS
from xpu_runtime.codegen.keep_values import keep_slow_values
from xpu_runtime.codegen.program import Array, LoopProgram, Section
from xpu_runtime.codegen.softmax import multiply_by_reciprocals
from xpu_runtime.codegen.statements import Let, Load, Store, Term, walk
from xpu_runtime.codegen.target import Target

F32 = ELEMENTS["f32"]


def softmax(
    rows, columns, high="x_0", less="{0} - {1}", slow="exp({0})", summed="e_1", kind="float"
):
    """Softmax as Inductor writes it; the other arguments make something else of it."""
    place = at(columns, 1)

    def exponential(n):
        return [
            Load(f"x_{n}", 0, place),
            Let(f"less_{n}", kind, Term(less, (f"x_{n}", "high"))),
            Let(f"e_{n}", kind, Term(slow, (f"less_{n}",))),
        ]

    start = [Load("x_0", 0, place), Let("minus_0", kind, Term("-{0}", ("x_0",)))]
    maximum = "maximum({0}, {1})"
    sections = [
        Section(start, [fold("high", kind, f"-({kind})infinity()", (maximum, high), maximum)]),
        Section(exponential(1), [replace(total("sum", summed), types=(kind,))]),
        Section(
            [
                *exponential(2),
                Let("share", kind, Term("{0} / {1}", ("e_2", "sum"))),
                Store(1, place, "share"),
            ]
        ),
    ]
    element = F32 if kind == "float" else ELEMENTS["f64"]
    arrays = [Array(element, element.size * rows * columns, n == 1) for n in range(2)]
    return LoopProgram(arrays, (rows, columns), 1, sections, headers=(*HEADERS, "limits"))


def quotients(program):
    statements = walk(program.sections[-1].per_element)
    return [s.value for s in statements if isinstance(s, Let) and s.name == "share"]


def test_the_sum_of_a_softmax_is_inverted_once_a_row():
    program = multiply_by_reciprocals(softmax(3, 100))
    assert quotients(program) == [Term("{0} * {1}", ("e_2", "inverse_sum"))]
    inverse = Let("inverse_sum", "float", Term("1.0f / {0}", ("sum",)))
    assert program.sections[1].per_row == [inverse]


@pytest.mark.parametrize(
    "program",
    [
        softmax(3, 100, summed="x_1"),
        softmax(3, 100, summed="less_1"),
        softmax(3, 100, high="minus_0"),
        softmax(3, 100, less="{0} + {1}"),
        softmax(3, 100, slow="exp2({0})"),
        softmax(3, 100, kind="double"),
    ],
    ids=["sum", "differences", "another maximum", "no difference", "another function", "f64"],
)
def test_other_sums_stay_divisors(program):
    """Their reciprocals may be infinite or zero, where quotients are not."""
    assert multiply_by_reciprocals(program) is program


@pytest.mark.values
@pytest.mark.parametrize("lanes_on_parallel", [False, True], ids=["rows", "columns"])
def test_a_softmax_by_products(xr, lanes_on_parallel):
    x = np.random.default_rng(0).standard_normal((40, 100)).astype(np.float32)
    x[3] = np.inf
    program = replace(softmax(40, 100), lanes_on_parallel=lanes_on_parallel)
    program = keep_slow_values(multiply_by_reciprocals(program), Target.of(xr.Device(0)))
    _, got = run(xr, program, [x, np.zeros_like(x)])
    with np.errstate(invalid="ignore"):
        exponentials = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(got, exponentials / exponentials.sum(1, keepdims=True), rtol=1e-5)
