"""The examples of the page about torch.compile, and the README's, run and print what the text says."""

from pathlib import Path

import pytest
from xpu_testing import run_child
from xpu_testing.documentation import blocks, printed

ROOT = Path(__file__).resolve().parents[3]
PAGES = [
    ROOT / "docs" / "torch_compile.md",
    ROOT / "docs" / "flex_attention.md",
    ROOT / "packages" / "inductor-xpu" / "README.md",
]


@pytest.mark.values
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_python(page, tmp_path):
    code = blocks(page, "python")
    child = run_child(code, timeout=300, cwd=tmp_path)
    assert child.check().out.splitlines() == printed(code)
