"""The fuzzers notice faults in results: zeros, a dropped tail, one wrong element, a lost NaN."""

import importlib.util
from pathlib import Path

import pytest
from xpu_testing.fuzz_sensitivity import noticed_faults

FUZZERS = Path(__file__).parents[1] / "fuzz"
KINDS = ("zeros", "tail", "element")

pytestmark = [pytest.mark.values]


@pytest.mark.parametrize(
    ("name", "cases", "dtypes", "lost_nan"),
    [
        ("inductor", (1,), ("f32", "f16", "int"), set()),
        ("inductor", (3, 6), ("bf16", "f16", "int"), {"nan f16"}),
        ("fusions", (13,), ("f32",), set()),
        ("fusions", (18, 25), ("bf16", "f16"), {"nan bf16", "nan f16"}),
        ("integers", (3,), ("int",), set()),
        pytest.param(
            *("triton", (3, 4), ("f32", "int"), set()),
            marks=pytest.mark.skipif(
                importlib.util.find_spec("triton") is None, reason="Triton is not installed"
            ),
        ),
    ],
)
def test_faults_in_results_are_noticed(name, cases, dtypes, lost_nan):
    faults = {f"{kind} {dtype}" for kind in KINDS for dtype in dtypes} | lost_nan
    assert faults <= noticed_faults(FUZZERS / name, cases).keys()
