"""The Python of PyTorch's pages, and the examples, run as they stand."""

from pathlib import Path

import pytest
from xpu_testing import run_child
from xpu_testing.documentation import blocks

ROOT = Path(__file__).resolve().parents[3]
PAGES = [
    ROOT / "docs" / "torch.md",
    ROOT / "docs" / "torch_from_cuda.md",
    ROOT / "packages" / "torch-xpu" / "README.md",
]


@pytest.mark.values
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_python(page, tmp_path):
    run_child(blocks(page, "python"), cwd=tmp_path).check()


def run_example(folder, name, *options):
    script = str(ROOT / "docs" / "examples" / "torch" / name)
    program = f"import runpy, sys; sys.argv = {[script, *options]!r}; "
    program += f"sys.path.insert(0, {str(Path(script).parent)!r}); "
    program += f"runpy.run_path({script!r}, run_name='__main__')"
    return run_child(program, cwd=folder).check().out


@pytest.mark.values
@pytest.mark.image_cache
def test_characters(tmp_path):
    lines = run_example(tmp_path, "train_characters.py", "--steps", "21").splitlines()
    losses = [float(line.split()[-1]) for line in lines]
    assert losses[-1] < losses[0]
    text = run_example(tmp_path, "generate_characters.py", "--start", "def ", "--count", "20")
    assert text.startswith("def ")
    assert len(text) >= 24


@pytest.mark.values
@pytest.mark.image_cache
def test_images(tmp_path):
    out = run_example(tmp_path, "train_images.py", "--steps", "11", "--size", "16")
    assert [line.split()[1] for line in out.splitlines()] == ["0", "10"]
