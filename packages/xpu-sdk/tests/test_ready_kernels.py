"""The list of kernels that ship has what programs want: `nox -s ready-kernels` writes it."""

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "ready_kernels"))

import recording

# Cases of programs, none for all, and the part of their kernels that may be missing. A model of bf16 wants a
# few others on a CPU with other instructions; the list was written on one with AVX2.
SAMPLES = {
    "common": ((), 1 / 20),
    "torch_language": (
        ("gpt2 trains 16 in torch.float32", "llama writes 1 in torch.bfloat16"),
        1 / 8,
    ),
}


@pytest.mark.values  # the list for the CPU is looked at
@pytest.mark.skipif(
    os.environ.get("XPU_GENERIC_BACKEND") == "1", reason="the generic mode keeps SYCL's images"
)
@pytest.mark.parametrize("name", SAMPLES)
def test_the_list_is_not_stale(name):
    only, may_be_missing = SAMPLES[name]
    found = recording.wanted(recording.PROGRAMS[name], "cpu", {}, only)
    assert len(found) == max(len(only), 1)
    wanted = recording.union(found)
    listed = recording.Listing.load().kernels("cpu")
    missing = [kernel for kernel in wanted if kernel not in listed]
    assert len(wanted) > 40
    assert len(missing) <= len(wanted) * may_be_missing, missing[0].source
