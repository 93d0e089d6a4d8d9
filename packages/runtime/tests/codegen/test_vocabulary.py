"""The code generators' tables, alone and beside those of C++."""

from __future__ import annotations

import re
import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest

import xpu_runtime as xr
from xpu_runtime._native import C
from xpu_runtime.codegen import conversions
from xpu_runtime.codegen.elements import DTYPES, ELEMENTS, element, find_element
from xpu_runtime.codegen.functions import VOCABULARIES, find_functions, functions
from xpu_runtime.codegen.kernel import MAX_ARGUMENTS
from xpu_runtime.codegen.literals import literal
from xpu_runtime.codegen.vocabulary_error import VocabularyError

# Names of element kinds in C++, where the others are words of the language.
KINDS = {
    "bool": "boolean",
    "int": "signed_integer",
    "uint": "unsigned_integer",
    "float": "floating",
    "complex": "complex",
}


def test_cpp_has_the_same_dtypes_in_the_same_order():
    expected = [(element.name, element.size, KINDS[element.kind]) for element in DTYPES]
    assert C.element_types() == expected


def test_cpp_takes_as_many_kernel_arguments():
    assert C.max_arguments == MAX_ARGUMENTS


def test_no_array_of_a_generated_kernel_is_packed():
    assert [element.name for element in DTYPES if element.name not in ELEMENTS] == [
        "u4",
        "i4",
        "f4",
    ]


@pytest.mark.parametrize(
    "name", [element.name for element in DTYPES if not element.packed and not element.scale]
)
def test_cpp_writes_the_same_types(name):
    given = element(name)
    array = xr.empty(4, name)
    source = xr.kernels.Elementwise("copy_same", ["a0"]).source(array, [array], name)
    (stored,) = set(re.findall(r"global<(?!const )(.*?)> o0", source))
    (math,) = re.findall(r"using T = (.*?);", source)
    header = f"#include <xpu/{given.header or 'convert'}.h>"
    assert stored.replace("xpu::", "") == given.stored
    assert math.replace("xpu::", "") == given.math
    assert header in source
    assert array.itemsize == given.size


def test_only_scales_of_products_are_f8e8m0():
    array = xr.empty(4, "f8e8m0")
    with pytest.raises(xr.Unsupported, match="only scales of matrix products are f8e8m0"):
        xr.kernels.Elementwise("copy_same", ["a0"]).source(array, [array], "f8e8m0")


@pytest.mark.parametrize("name", ELEMENTS)
def test_a_kernel_of_every_element_has_its_size_and_bits(name):
    given = element(name)
    numpy = np.dtype(getattr(ml_dtypes, given.numpy_name, given.numpy_name))
    assert numpy.itemsize == given.size
    header = f"#include <xpu/{given.header or 'convert'}.h>\n"
    xr.compile(
        f"{header}using namespace xpu;\n"
        f"static_assert(sizeof({given.stored}) == {given.size} && sizeof({given.math}) >= {given.size});\n"
        f"XPU_KERNEL(1) sizes(global<{given.stored}> x) {{ x[lane()] = {given.stored}(); }}\n"
    ).kernel("sizes")


def test_every_function_compiles_with_its_header():
    lines = []
    for number, function in enumerate(f for f in functions() if f.rule != "complex"):
        type = "i32" if function.rule in ("integral", "bits") else "float"
        call = function.template.format(*(f"({type})lane()" for _ in range(function.arity)))
        lines.append(f"  x[{number}] = (float){call};")
    headers = dict.fromkeys(f.header for f in functions() if f.rule != "complex")
    source = "".join(f"#include <xpu/{header}.h>\n" for header in headers)
    body = "\n".join(lines)
    xr.compile(
        f"{source}using namespace xpu;\nXPU_KERNEL(1) all(global<float> x) {{\n{body}\n}}\n"
    ).kernel("all")


def test_frameworks_names_find_elements():
    assert find_element(pytorch="bfloat16").stored == "bf16"
    assert find_element(stablehlo="ui8").name == "u8"
    assert find_element(pjrt=17).name == "f8e4m3"
    for vocabulary in ("pytorch", "stablehlo", "pjrt", "numpy_name"):
        names = [getattr(element, vocabulary) for element in ELEMENTS.values()]
        given = [name for name in names if name]
        assert len(given) == len(set(given)) > 16


def test_names_find_functions_of_floats_and_of_integers():
    found = find_functions("stablehlo", "maximum")
    assert [function.rule for function in found] == ["arithmetic", "integral"]
    assert found[0].template == "maximum({0}, {1})"
    (exp,) = find_functions("libdevice", "fast_exp")
    assert (exp.header_for("float"), exp.header_for("complex")) == ("exp", "complex_math")


@pytest.mark.parametrize(
    ("look_up", "message"),
    [
        (lambda: element("f31"), "element: got 'f31', expected one of bool, u8"),
        (lambda: find_element(pytorch="half"), "pytorch: got 'half', expected one of bool"),
        (lambda: find_element(mlir="f32"), "vocabulary: got 'mlir', expected one of name"),
        (lambda: find_functions("aten", "no"), "aten: got 'no', expected one of abs"),
        (lambda: find_functions("cuda", "abs"), "vocabulary: got 'cuda', expected one of aten"),
    ],
)
def test_unknown_names_are_rejected(look_up, message):
    with pytest.raises(VocabularyError, match=re.escape(message)):
        look_up()


def test_every_vocabulary_has_names():
    for vocabulary in VOCABULARIES:
        assert sum(bool(getattr(function, vocabulary)) for function in functions()) > 50


@pytest.mark.values
@pytest.mark.parametrize("name", ["f32", "f64"])
def test_literals_are_exact_on_the_device(name):
    given = element(name)
    if name == "f64" and not xr.devices()[0].fp64:
        pytest.skip("the device has no fp64")
    numpy = np.dtype(given.numpy_name)
    about = np.finfo(numpy)
    numbers = [0.0, -0.0, 0.1, -1.5, np.inf, -np.inf, np.nan, about.max, about.tiny, 1 / 3]
    values = np.array([*numbers, about.smallest_subnormal], numpy)
    stores = "".join(f"x[{i}] = {literal(value, given)}; " for i, value in enumerate(values))
    kernel = xr.compile(
        f"#include <xpu/convert.h>\nusing namespace xpu;\n"
        f"XPU_KERNEL(1) numbers(global<{given.stored}> x) {{ {stores}}}\n"
    ).kernel("numbers")
    out = xr.empty(len(values), name)
    lanes = xr.devices()[0].sub_group_size
    xr.launch(kernel, lanes, lanes, [out])
    assert out.numpy().tobytes() == values.tobytes()


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("bool", True, "true"),
        ("u64", 2**64 - 1, "bits_as<u64>(0xfffffffffffffffful)"),
        ("i64", -1, "bits_as<i64>(0xfffffffffffffffful)"),
        ("i32", -(2**31), "(i32)(-2147483648)"),
        ("u32", 2**32 - 1, "(u32)(4294967295u)"),
        (
            "c64",
            complex(1, -0.0),
            "Complex<float>(0x1.0000000000000p+0f, bits_as<float>(0x80000000u))",
        ),
    ],
)
def test_literals_of_integers_and_complex_numbers(name, value, text):
    assert literal(value, element(name)) == text


def test_conversions_saturate_and_round_by_the_stored_type():
    def convert(source: str, target: str) -> str:
        return conversions.convert(element(source), element(target), "x")

    assert convert("f32", "f32") == "x"
    assert convert("f32", "i8") == "to_sat<i8>(x)"
    assert convert("i64", "i8") == "to<i8>(x)"
    assert convert("f64", "bf16") == "(float)to<bf16>(x)"
    assert convert("c128", "f16") == "(float)to<half>(x.re)"
    assert convert("f16", "u4_in_byte") == "(u8)((u32)(to_sat<i32>(x)) & 15u)"


def test_importing_the_tables_loads_no_library_and_no_framework():
    code = (
        "import sys, xpu_runtime.codegen.elements, xpu_runtime.codegen.functions\n"
        "print([n for n in ('xpu_runtime._C', 'torch', 'jax', 'ml_dtypes') if n in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
