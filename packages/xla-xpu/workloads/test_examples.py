"""The examples that need optax and flax run as they stand."""

from pathlib import Path

from xpu_testing.documentation import run_example

EXAMPLES = Path(__file__).resolve().parents[3] / "docs" / "examples" / "jax"


def test_spirals(tmp_path):
    out = run_example(EXAMPLES / "train_spirals.py", "--steps", "101", cwd=tmp_path)
    assert float(out.split()[-1]) > 0.9


def test_transformer(tmp_path):
    out = run_example(EXAMPLES / "train_transformer.py", "--steps", "21", cwd=tmp_path)
    losses = [float(line.split()[-1]) for line in out.splitlines()]
    assert losses[-1] < 0.8 * losses[0]
