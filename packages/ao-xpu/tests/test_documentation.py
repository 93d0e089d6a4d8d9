"""The examples of the guide, and the README's, run and print what the text says."""

import os
from pathlib import Path

import pytest
from xpu_testing import run_child
from xpu_testing.documentation import blocks, printed, run_example

ROOT = Path(__file__).resolve().parents[3]
EXAMPLE = ROOT / "docs" / "examples" / "ao" / "quantize_llama.py"
PAGES = [ROOT / "docs" / "torchao.md", ROOT / "packages" / "ao-xpu" / "README.md"]


@pytest.mark.values
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_python(page, tmp_path):
    code = blocks(page, "python")
    child = run_child(code, timeout=300, cwd=tmp_path)
    assert child.check().out.splitlines() == printed(code)


@pytest.mark.skipif(
    os.environ.get("XPU_STRICT_MEMORY") == "1",
    reason="takes ten minutes where every operator waits",
)
@pytest.mark.values
def test_a_small_llama_is_quantized_every_way(tmp_path):
    """A model of a few steps is quantized like a trained one; its table has a row of numbers for each way."""
    out = run_example(EXAMPLE, "--seconds", "1", "--words", "2", cwd=tmp_path, timeout=400)
    assert "rejected" not in out
    lines = [line for line in out.splitlines() if line.startswith(("bf16", "int", "fp8"))]
    table = {line[:34].strip(): [float(cell) for cell in line[34:].split()] for line in lines}
    assert len(table) == len(lines) == 18
    perplexity, size, _, _ = table["bf16"]
    for name, row in table.items():
        assert len(row) == 4
        # A few steps of QAT take another way than those of floats.
        assert abs(row[0] / perplexity - 1) < (0.3 if "QAT" in name else 0.05), name
        assert row[1] < size * (0.6 if "8" in name else 0.4) or name == "bf16"
        assert min(row[2:]) > 0
    before, after = out.splitlines()[-1].split(" | ")
    assert len(before.split()) == 8
    assert len(after.split()) == 24
