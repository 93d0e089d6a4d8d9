"""The fuzzer notices faults in results: zeros, a dropped tail, one wrong element, a lost NaN."""

from pathlib import Path

import pytest
from xpu_testing.fuzz_sensitivity import noticed_faults

FUZZER = Path(__file__).parents[1] / "fuzz" / "torch"

pytestmark = [pytest.mark.values]


def test_faults_in_results_are_noticed():
    noticed = noticed_faults(FUZZER, (*range(6, 24), 36, 57, 67))
    for dtype in ("f32", "bf16", "f16", "int"):
        assert {f"{kind} {dtype}" for kind in ("zeros", "tail", "element")} <= noticed.keys()
    assert "nan f32" in noticed
