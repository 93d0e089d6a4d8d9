"""The fuzzers notice faults in results: zeros, a dropped tail, one wrong element, a lost NaN."""

from pathlib import Path

import pytest
from xpu_testing.fuzz_sensitivity import noticed_faults

FUZZERS = Path(__file__).parents[1] / "fuzz"
FLOATS = {
    f"{kind} {dtype}" for kind in ("zeros", "tail", "element") for dtype in ("f32", "bf16", "f16")
}
INTEGERS = {"zeros int", "tail int", "element int"}

pytestmark = [pytest.mark.values]


@pytest.mark.parametrize(
    ("name", "cases", "faults"),
    [
        ("inductor", (1, 3, 6), FLOATS | INTEGERS | {"nan f16"}),
        ("fusions", (13, 18, 25), FLOATS | {"nan bf16", "nan f16"}),
        ("integers", (3,), INTEGERS),
    ],
)
def test_faults_in_results_are_noticed(name, cases, faults):
    assert faults <= noticed_faults(FUZZERS / name, cases).keys()
