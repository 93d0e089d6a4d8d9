"""The Python of PyTorch's pages runs as it stands."""

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
