"""PyTorch's operator samples on xpu beside the CPU, as operators.json has recorded them.

What it says passes must pass, and what it says fails must fail. To record anew:
``python operators.py --dtypes f32 --samples 4 --record operators.json``.
"""

import json
import warnings
from fnmatch import fnmatch
from pathlib import Path

import operators
import pytest

pytestmark = pytest.mark.filterwarnings("ignore")

RECORDED = json.loads((Path(__file__).parent / "operators.json").read_text())
DTYPE = "f32"
SAMPLES = 4

# What they do next depends on what they have computed: where nothing is, that may be without end.
READ_VALUES = (
    *("argwhere", "bincount", "corrcoef", "cov", "index_fill", "masked_select"),
    *(
        "multinomial",
        "narrow",
        "nonzero*",
        "repeat_interleave",
        "tensor_split",
        "unique*",
        "*gaussian_nll_loss",
    ),
    *("*ctc_loss", "*lowrank", "*cholesky*", "lu*", "*solve*", "*inverse*", "linalg.*"),
)
# They compute in f64 whatever they are given.
FP64 = ("double", "cdouble", "float_power", "pinverse", "to", "*.with_dtype")


def cases():
    for op in operators.selected([]):
        name = operators.full_name(op)
        if operators.dtypes_of(op, [operators.DTYPES[DTYPE]]):
            reason = RECORDED.get(name, {}).get(DTYPE, "not recorded")
            fails, reads = reason != "pass", any(fnmatch(name, p) for p in READ_VALUES)
            marks = [pytest.mark.xfail(reason=reason)] * fails
            marks += [pytest.mark.values] * (fails or reads)
            marks += [pytest.mark.fp64] * any(fnmatch(name, p) for p in FP64)
            yield pytest.param(op, id=name, marks=marks)


@pytest.mark.parametrize("op", list(cases()))
def test_as_on_the_cpu(op):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        operators.check(op, operators.DTYPES[DTYPE], SAMPLES)


def test_most_operators_pass():
    """Of those that PyTorch has; the test above sees whether what is recorded of each is so."""
    names = [parameters.id for parameters in cases()]
    passing = [name for name in names if RECORDED.get(name, {}).get(DTYPE) == "pass"]
    assert len(passing) >= 0.98 * len(names)
