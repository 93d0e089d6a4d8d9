"""DTensor and FSDP of quantized weights: rejected by name, or right where torchao itself has them."""

from pathlib import Path

import pytest
from xpu_testing import run_child

PROGRAM = Path(__file__).parent / "programs" / "distributed_weights.py"


@pytest.mark.values
def test_a_group_of_one():
    lines = run_child(PROGRAM, timeout=300).check().out.splitlines()
    assert lines == ["True"] * (9 * 4 + 8)
