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
from xpu_runtime.codegen.target import Target
from xpu_runtime.codegen.write import write

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


# The root of 1/2 with the bits of f16 and bf16, as JAX has it.
ROUNDED_ROOT = float.fromhex("0x1.6ap-1")


@pytest.mark.parametrize("element", ["f16", "bf16"])
def test_factors_of_16_bits_belong_to_results_of_16(element):
    assert functions(use_gelu(gelu(element, scale=ROUNDED_ROOT)))[0].template == "short_gelu({0})"
    other = gelu(element, scale=float.fromhex("0x1.6cp-1"))
    assert use_gelu(other) is other
    program = gelu(scale=ROUNDED_ROOT)
    assert use_gelu(program) is program


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


def product(*factors):
    value = factors[0]
    for factor in factors[1:]:
        value = Term("{0} * {1}", (value, factor))
    return value


def plus(a, b):
    return Term("{0} + {1}", (a, b))


def minus(a):
    return Term("-{0}", (a,))


def of(function, value):
    return Term(f"{function}({{0}})", (value,))


HALF, ONE, R = number(0.5), number(1.0), number(ROOT_OF_HALF)
K, C = number(math.sqrt(2 / math.pi)), number(0.044715)
ERFC = of("erfc", product(minus("x"), R))


def weight_by_tanh(k, c):
    cube = product(c, product(product("x", "x"), "x"))
    return plus(ONE, of("tanh", product(k, plus("x", cube))))


TANH = weight_by_tanh(K, C)
FORMS = {
    "JAX's": (product(product(HALF, "x"), ERFC), "gelu"),
    "JAX's, half last": (product(product("x", ERFC), HALF), "gelu"),
    "JAX's, minus outside": (
        product("x", product(HALF, of("erfc", minus(product(R, "x"))))),
        "gelu",
    ),
    "JAX's, minus in the root": (
        product(HALF, product(of("erfc", product("x", number(-ROOT_OF_HALF))), "x")),
        "gelu",
    ),
    "tanh": (product("x", product(HALF, TANH)), "gelu_tanh"),
    "tanh of a product": (
        product(
            product(HALF, "x"),
            plus(
                of("tanh", product(plus(product(product(product(C, "x"), "x"), "x"), "x"), K)), ONE
            ),
        ),
        "gelu_tanh",
    ),
    "erfc of x": (product(product(HALF, "x"), of("erfc", product("x", R))), ""),
    "erfc of another": (product(product(HALF, "z"), ERFC), ""),
    "x squared": (product(product("x", "x"), ERFC), ""),
    "half squared": (product(product(HALF, HALF), ERFC), ""),
    "tanh of a square": (
        product(
            "x",
            product(
                HALF, plus(ONE, of("tanh", product(K, plus("x", product(C, product("x", "x"))))))
            ),
        ),
        "",
    ),
    "tanh of a fourth power": (
        product(
            "x",
            product(
                HALF, plus(ONE, of("tanh", product(K, plus("x", product(C, "x", "x", "x", "x")))))
            ),
        ),
        "",
    ),
    "tanh without x": (product("z", product(HALF, TANH)), ""),
    "erf and erfc": (product(product(HALF, "x"), plus(ONE, ERFC)), ""),
}


def form(value, element="f32"):
    """The program of a value of x, as nested terms; and of the same with each term named."""
    nested = [Let("result", "float", value)]
    named = []

    def name(operand):
        if not isinstance(operand, Term):
            return operand
        term = Term(operand.template, tuple(map(name, operand.args)))
        named.append(Let(f"t{len(named)}", "float", term))
        return named[-1].name

    last = name(value)
    [section] = gelu(element).sections
    before = section.per_element[:3]
    store = Store(1, whole(COUNT), "result")
    return [
        replace(gelu(element), sections=[Section([*before, *statements, store])])
        for statements in (nested, [*named, Let("result", "float", last)])
    ]


@pytest.mark.parametrize("name", FORMS)
def test_forms(name):
    value, function = FORMS[name]
    for program in form(value):
        calls = [s.value for s in use_gelu(program).sections[0].per_element if isinstance(s, Let)]
        found = [c for c in calls if isinstance(c, Term) and "gelu" in c.template]
        assert found == ([Term(f"{function}({{0}})", ("x",))] if function else [])


@pytest.mark.parametrize(
    ("k", "c"), [("0x1.988p-1", "0x1.6e4p-5"), ("0x1.98p-1", "0x1.6ep-5")], ids=["f16", "bf16"]
)
def test_factors_of_tanh_of_16_bits(k, c):
    rounded = weight_by_tanh(number(float.fromhex(k)), number(float.fromhex(c)))
    value = product("x", product(HALF, rounded))
    for element, found in (("bf16", True), ("f16", True), ("f32", False)):
        for program in form(value, element):
            assert (use_gelu(program) is not program) == found


@pytest.mark.values
@pytest.mark.parametrize("name", [name for name, (_, function) in FORMS.items() if function])
def test_a_program_with_gelu(xr, name):
    """By the writer, which runs the pass."""
    x = np.linspace(-6, 6, COUNT).astype(np.float32)
    value, function = FORMS[name]
    wide = x.astype(np.float64)
    if function == "gelu":
        expected = [v / 2 * math.erfc(-v * ROOT_OF_HALF) for v in wide]
    else:
        inner = math.sqrt(2 / math.pi) * (wide + 0.044715 * wide**3)
        expected = wide / (1 + np.exp(-2 * inner))
    for program in form(value):
        assert "gelu" in write(program, Target.of(xr.Device(0))).code.headers
        _, got = run(xr, program, [x, np.zeros_like(x)])
        np.testing.assert_allclose(got, expected, rtol=2e-5)
