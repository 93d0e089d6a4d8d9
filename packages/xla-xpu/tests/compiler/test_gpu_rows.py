"""Kernels of rows in the form that GPUs get, run on this machine's own device: a group for each long row."""

from pathlib import Path

import pytest

PROGRAM = Path(__file__).parent / "programs" / "gpu_rows.py"


@pytest.mark.values
@pytest.mark.cpu_device
def test_long_rows_have_a_group_each(child, tmp_path):
    cache = {"XDG_CACHE_HOME": str(tmp_path), "XPU_DUMP_KERNELS": str(tmp_path)}
    child(PROGRAM, env=cache, timeout=300).check()
    sources = [path.read_text() for path in tmp_path.glob("*.sycl")]
    assert any("XPU_KERNEL(1) fused" in text and "= group_reduce(a" in text for text in sources)
