"""The list of kernels that ship has what programs want: `nox -s ready-kernels` writes it."""

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "ready_kernels"))

import recording

# The part of a program's kernels that may be missing. A model of bf16 wants a few others on a CPU with other
# instructions; the list was written on one with AVX2.
MISSING = {"common": 1 / 20, "torch_language": 1 / 8}


@pytest.mark.values  # the list for the CPU is looked at
@pytest.mark.skipif(
    os.environ.get("XPU_GENERIC_BACKEND") == "1", reason="the generic mode keeps SYCL's images"
)
@pytest.mark.parametrize("name", MISSING)
def test_the_list_is_not_stale(name):
    wanted = recording.union(recording.wanted(recording.PROGRAMS[name], "cpu", {}))
    listed = recording.Listing.load().kernels("cpu")
    missing = [kernel for kernel in wanted if kernel not in listed]
    assert len(wanted) > 40
    assert len(missing) <= len(wanted) * MISSING[name], missing[0].source
