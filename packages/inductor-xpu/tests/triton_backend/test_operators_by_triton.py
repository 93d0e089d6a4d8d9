"""PyTorch's operators compiled by way of Triton give what eager ones give, forward and backward: 150 of them."""

import json
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
sys.path.insert(0, str(TESTS))

import operator_case  # noqa: E402

import inductor_xpu.settings  # noqa: E402

pytestmark = [pytest.mark.values, pytest.mark.filterwarnings("ignore")]

RECORDED = json.loads((TESTS / "compiled_operators.json").read_text())
PASSING = [name for name, result in RECORDED.items() if result == "pass"]
DRAWN = 150


@pytest.mark.parametrize("name", PASSING[1 :: len(PASSING) // DRAWN])
def test_as_without_compilation(name):
    operator_case.require(name)
    with inductor_xpu.settings.patch(reader="triton"):
        operator_case.check(name)
