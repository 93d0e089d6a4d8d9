"""The page about PyTorch and JAX together, and its examples, run as they stand."""

from pathlib import Path

import pytest
from xpu_testing import run_child
from xpu_testing.documentation import blocks, run_example

DOCS = Path(__file__).resolve().parents[3] / "docs"
EXAMPLES = DOCS / "examples" / "together"


@pytest.mark.values
def test_python(tmp_path):
    run_child(blocks(DOCS / "together.md", "python"), cwd=tmp_path).check()


@pytest.mark.values
@pytest.mark.parametrize("name", ["residual_dynamics", "augment_in_jax"])
def test_examples(name, tmp_path):
    out = run_example(EXAMPLES / f"{name}.py", "--steps", "21", cwd=tmp_path)
    losses = [float(line.split()[3]) for line in out.splitlines() if "loss" in line]
    assert losses[-1] < losses[0] / 2
