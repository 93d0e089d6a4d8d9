"""The Python of JAX's page, and the examples that need no other library, run as they stand."""

from pathlib import Path

import pytest
from xpu_testing import run_child
from xpu_testing.documentation import blocks, run_example

DOCS = Path(__file__).resolve().parents[3] / "docs"
EXAMPLES = DOCS / "examples" / "jax"


@pytest.mark.values
def test_python(tmp_path):
    pytest.importorskip("torch", reason="the page mixes JAX and PyTorch")
    run_child(blocks(DOCS / "jax.md", "python"), cwd=tmp_path).check()


@pytest.mark.values
def test_options(tmp_path):
    out = run_example(EXAMPLES / "price_options.py", "--paths", "100000", cwd=tmp_path)
    assert float(out.split()[1]) == pytest.approx(3.21, abs=0.08)


@pytest.mark.values
def test_predators(tmp_path):
    out = run_example(EXAMPLES / "fit_predators.py", "--steps", "51", cwd=tmp_path)
    errors = [float(line.split()[-1]) for line in out.splitlines()[:-1]]
    assert errors[-1] < errors[0] / 50
