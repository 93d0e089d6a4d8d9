"""The list of kernels that ship has what programs want: `nox -s ready-kernels` writes it."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "ready_kernels"))

import recording

# For each program: the cases to run (all if there are none), and the share of their kernels that may be
# missing from the list. The list was written on a CPU with AVX2. On other CPUs, models in bf16 use a few
# other kernels.
SAMPLES = {
    "common": ((), 1 / 20),
    "torch_language": (
        ("gpt2 trains 16 in torch.float32", "llama writes 1 in torch.bfloat16"),
        1 / 8,
    ),
}


@pytest.mark.values  # the list for the CPU is looked at
@pytest.mark.driver_binaries
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
