"""Softmax multiplies by the reciprocal of its sum, and its maximum passes over NaN; nothing else does."""

from dataclasses import replace

import numpy as np
import pytest
from loop_case import HEADERS, at, fold, run, total

from xpu_runtime.codegen.elements import ELEMENTS
from xpu_runtime.codegen.keep_values import keep_slow_values
from xpu_runtime.codegen.program import Array, LoopProgram, Section
from xpu_runtime.codegen.softmax import simplify_softmax
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
    program = simplify_softmax(softmax(3, 100))
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
    assert simplify_softmax(program) is program


def update_of_maximum(program):
    [statement] = program.sections[0].folds[0].update
    return statement.value.template


def with_another_use(name):
    """Softmax that also stores a value: the maximum of a row, or one of each element."""
    program = softmax(3, 100)
    arrays = [*program.arrays, Array(F32, 4 * 300, True)]
    first, second, third = program.sections
    if name == "high":
        first = replace(first, per_row=[Store(2, at(1, 0), name)])
    else:
        third = replace(third, per_element=[*third.per_element, Store(2, at(100, 1), name)])
    return replace(program, arrays=arrays, sections=[first, second, third])


def test_a_maximum_passes_over_nan_if_it_is_used_for_products_only():
    assert update_of_maximum(simplify_softmax(softmax(3, 100))) == "{0} < {1} ? {1} : {0}"
    assert update_of_maximum(simplify_softmax(with_another_use("share"))) != "maximum({0}, {1})"


@pytest.mark.parametrize("name", ["high", "less_2", "e_2"])
def test_a_maximum_with_another_use_is_nan_in_rows_with_nan(name):
    program = simplify_softmax(with_another_use(name))
    assert quotients(program)[0].template == "{0} * {1}"
    assert update_of_maximum(program) == "maximum({0}, {1})"


@pytest.mark.values
@pytest.mark.parametrize("lanes_on_parallel", [False, True], ids=["rows", "columns"])
def test_a_softmax_by_products(xr, lanes_on_parallel):
    x = np.random.default_rng(0).standard_normal((40, 100)).astype(np.float32)
    x[3] = np.inf
    x[5, 7] = x[6] = np.nan
    program = replace(softmax(40, 100), lanes_on_parallel=lanes_on_parallel)
    program = keep_slow_values(simplify_softmax(program), Target.of(xr.Device(0)))
    _, got = run(xr, program, [x, np.zeros_like(x)])
    with np.errstate(invalid="ignore"):
        exponentials = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(got, exponentials / exponentials.sum(1, keepdims=True), rtol=1e-5)
