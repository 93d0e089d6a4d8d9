"""PyTorch's operators compiled on xpu, as compiled_operators.json has recorded them.

To record anew: ``python compiled_operators.py --record compiled_operators.json``.
"""

import json
from pathlib import Path

import operator_case
import pytest
from torch_xpu.torch_version import RELEASE

pytestmark = pytest.mark.filterwarnings("ignore")

RECORDED = json.loads((Path(__file__).parent / "compiled_operators.json").read_text())
APPLICABLE = [name for name, result in RECORDED.items() if not result.startswith("not applicable")]
PASSING = [name for name in APPLICABLE if RECORDED[name] == "pass"]
SAMPLE = 40


@pytest.mark.values
@pytest.mark.parametrize("name", PASSING[:: len(PASSING) // SAMPLE])
def test_as_without_compilation(name):
    operator_case.require(name)
    operator_case.check(name)


@pytest.mark.skipif(RELEASE != (2, 13), reason="the operators of PyTorch 2.13 are recorded")
def test_all_operators_are_recorded():
    assert set(RECORDED) == set(operator_case.operators())


def test_most_operators_pass():
    """Of those that run without compilation and that Dynamo traces."""
    assert len(APPLICABLE) > 600
    assert len(PASSING) >= 0.98 * len(APPLICABLE)
