"""The fuzzers notice faults in results: zeros, a dropped tail, one wrong element, a lost NaN."""

from pathlib import Path

import pytest
from xpu_testing.fuzz_sensitivity import noticed_faults

FUZZERS = Path(__file__).parents[1] / "fuzz"

pytestmark = [pytest.mark.values]


def test_faults_in_results_of_expressions_are_noticed():
    noticed = noticed_faults(FUZZERS / "compile", (20, 33, 39))
    for dtype in ("f32", "bf16", "f16"):
        assert {f"{kind} {dtype}" for kind in ("zeros", "tail", "element", "nan")} <= noticed.keys()


def test_faults_in_results_of_loops_are_noticed():
    assert noticed_faults(FUZZERS / "loops", range(8)).keys() == {
        "zeros int",
        "tail int",
        "element int",
    }
