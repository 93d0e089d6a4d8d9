"""PyTorch's operator samples on xpu beside the CPU, as operators.json has recorded them.

What it says passes must pass, and what it says fails must fail. To record anew:
``python operators.py --dtypes f32 --samples 4 --record operators.json``.
"""

import json
import warnings
from pathlib import Path

import operators
import pytest

# Thousands of kernels are built: too many for a backend that keeps none of them.
pytestmark = [pytest.mark.values, pytest.mark.image_cache, pytest.mark.filterwarnings("ignore")]

RECORDED = json.loads((Path(__file__).parent / "operators.json").read_text())
DTYPE = "f32"
SAMPLES = 4


def cases():
    for op in operators.selected([]):
        name = operators.full_name(op)
        if operators.dtypes_of(op, [operators.DTYPES[DTYPE]]):
            reason = RECORDED.get(name, {}).get(DTYPE, "not recorded")
            marks = () if reason == "pass" else pytest.mark.xfail(reason=reason)
            yield pytest.param(op, id=name, marks=marks)


@pytest.mark.parametrize("op", list(cases()))
def test_as_on_the_cpu(op):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        operators.check(op, operators.DTYPES[DTYPE], SAMPLES)


def test_most_operators_pass():
    results = [by_dtype[DTYPE] for by_dtype in RECORDED.values() if DTYPE in by_dtype]
    assert results.count("pass") >= 0.98 * len(results)
