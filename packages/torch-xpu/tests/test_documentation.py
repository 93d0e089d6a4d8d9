"""The Python of PyTorch's pages, and the examples, run as they stand."""

from pathlib import Path

import pytest
from xpu_testing import run_child
from xpu_testing.documentation import blocks, run_example

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "docs" / "examples" / "torch"
PAGES = [
    ROOT / "docs" / "torch.md",
    ROOT / "docs" / "torch_from_cuda.md",
    ROOT / "packages" / "torch-xpu" / "README.md",
]


@pytest.mark.values
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_python(page, tmp_path):
    run_child(blocks(page, "python"), cwd=tmp_path).check()


@pytest.mark.values
def test_characters(tmp_path):
    out = run_example(EXAMPLES / "train_characters.py", "--steps", "21", cwd=tmp_path)
    losses = [float(line.split()[-1]) for line in out.splitlines()]
    assert losses[-1] < losses[0]
    generate, options = EXAMPLES / "generate_characters.py", ("--start", "def ", "--count", "20")
    text = run_example(generate, *options, cwd=tmp_path)
    assert text.startswith("def ")
    assert len(text) >= 24


@pytest.mark.values
def test_images(tmp_path):
    out = run_example(EXAMPLES / "train_images.py", "--steps", "11", "--size", "16", cwd=tmp_path)
    assert [line.split()[1] for line in out.splitlines()] == ["0", "10"]
