"""The documentation's Python runs as it stands, page by page, and its C++ builds with the line it gives."""

import os
import sys
from pathlib import Path

import pytest
from xpu_testing import processes
from xpu_testing.documentation import blocks

DOCS = Path(__file__).resolve().parents[3] / "docs"
README = Path(__file__).resolve().parents[1] / "README.md"
# A framework's page is its adapter's to test.
FRAMEWORKS = {
    "torch",
    "torch_compile",
    "compiled_ahead",
    "triton",
    "jax",
    "together",
    "distributed",
}
PAGES = [
    page
    for page in (*sorted(DOCS.glob("*.md")), README)
    if page.stem not in FRAMEWORKS and blocks(page, "python")
]


@pytest.mark.values
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_python(page, child, tmp_path):
    child(blocks(page, "python"), cwd=tmp_path).check()


@pytest.mark.values
def test_cpp(tmp_path):
    (tmp_path / "first.cpp").write_text((DOCS / "examples" / "first.cpp").read_text())
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = processes.run(
        ["bash", "-ec", blocks(DOCS / "cpp.md", "bash")],
        timeout=300,
        cwd=tmp_path,
        env={**os.environ, "PATH": path},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "42 42"
