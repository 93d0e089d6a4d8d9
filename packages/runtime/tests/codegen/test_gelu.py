"""gelu is found in the operators of which PyTorch makes it, and in nothing that is another function."""

import math
from dataclasses import replace

import numpy as np
import pytest
from loop_case import HEADERS, run, total, whole

from xpu_runtime.codegen.elements import ELEMENTS
from xpu_runtime.codegen.gelu import use_gelu
from xpu_runtime.codegen.literals import literal
from xpu_runtime.codegen.program import Array, LoopProgram, Section
from xpu_runtime.codegen.statements import Let, Load, Store, Term

F32 = ELEMENTS["f32"]
COUNT = 100


def number(value):
    return literal(value, F32)


ROOT_OF_HALF = math.sqrt(0.5)


def gelu(
    element="f32", swapped=False, half=0.5, scale=ROOT_OF_HALF, one=1.0, erf="erf({0})", of="y"
):
    """``x * half * (erf(of * scale) + one)``; ``y`` is a copy of x, ``z`` is not."""

    def let(name, template, *args):
        return Let(name, "float", Term(template, args[::-1] if swapped else args))

    statements = [
        Load("x", 0, whole(COUNT)),
        Let("y", "float", "x"),
        Let("z", "float", Term("-{0}", ("x",))),
        Let("half", "float", number(half)),
        let("low", "{0} * {1}", "x", "half"),
        let("scaled", "{0} * {1}", of, number(scale)),
        Let("error", "float", Term(erf, ("scaled",))),
        let("weight", "{0} + {1}", "error", number(one)),
        let("result", "{0} * {1}", "low", "weight"),
        Store(1, whole(COUNT), "result"),
    ]
    kind = ELEMENTS[element]
    arrays = [Array(kind, kind.size * COUNT, n == 1) for n in range(2)]
    return LoopProgram(arrays, (COUNT,), 1, [Section(statements)], headers=(*HEADERS, "convert"))


def functions(program):
    return [
        s.value
        for section in program.sections
        for s in section.per_element
        if isinstance(s, Let) and s.name == "result"
    ]


@pytest.mark.parametrize("swapped", [False, True])
def test_gelu_is_found(swapped):
    program = use_gelu(gelu(swapped=swapped))
    assert functions(program) == [Term("gelu({0})", ("x",))]
    assert "gelu" in program.headers


@pytest.mark.parametrize("element", ["f16", "bf16"])
def test_results_of_16_bits_have_14(element):
    assert functions(use_gelu(gelu(element))) == [Term("short_gelu({0})", ("x",))]


def test_a_sum_of_gelu_is_of_whole_precision():
    [section] = gelu("bf16").sections
    program = replace(
        gelu("bf16"),
        parallel_dims=0,
        sections=[replace(section, folds=[total("sum", "result")])],
    )
    assert functions(use_gelu(program)) == [Term("gelu({0})", ("x",))]


@pytest.mark.parametrize(
    "program",
    [
        gelu(half=0.25),
        gelu(scale=0.5),
        gelu(one=2.0),
        gelu(erf="erfc({0})"),
        gelu(of="z"),
    ],
    ids=["half", "scale", "one", "function", "argument"],
)
def test_other_functions_stay(program):
    assert use_gelu(program) is program


@pytest.mark.values
def test_a_program_with_gelu(xr):
    x = np.linspace(-6, 6, COUNT).astype(np.float32)
    _, got = run(xr, use_gelu(gelu()), [x, np.zeros_like(x)])
    expected = [v / 2 * math.erfc(-v * math.sqrt(0.5)) for v in x.astype(np.float64)]
    np.testing.assert_allclose(got, expected, rtol=1e-5)
