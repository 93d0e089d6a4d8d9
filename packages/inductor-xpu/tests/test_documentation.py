"""The examples of the pages about torch.compile and Triton run and print what the text says."""

from pathlib import Path

import pytest
from xpu_testing import run_child
from xpu_testing.documentation import blocks, printed

ROOT = Path(__file__).resolve().parents[3]
PAGES = [
    ROOT / "docs" / "torch_compile.md",
    ROOT / "docs" / "compiled_ahead.md",
    ROOT / "docs" / "flex_attention.md",
    ROOT / "docs" / "triton.md",
    ROOT / "packages" / "inductor-xpu" / "README.md",
]


@pytest.mark.values
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_python(page, tmp_path):
    code = blocks(page, "python")
    program = tmp_path / "example.py"  # Triton reads the source of kernels
    program.write_text(code)
    child = run_child(program, timeout=300, cwd=tmp_path)
    assert child.check().out.splitlines() == printed(code)
