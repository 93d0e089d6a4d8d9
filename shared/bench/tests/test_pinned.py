"""Pairs that are timed in a process with fewer cores."""

import os
import textwrap

import pytest
from xpu_bench.pinned import PinnedProcess

PAIRS = """
import os, time
from xpu_bench import Pair

def make_pair(name):
    print("a library says something")
    if name == "end":
        os._exit(3)
    cores = len(os.sched_getaffinity(0))
    assert os.environ["DPCPP_CPU_NUM_CUS"] == str(cores)
    return Pair(ours=lambda: float(cores), peer=lambda: 0.5, self_timed=True)
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "pairs.py"
    path.write_text(textwrap.dedent(PAIRS))
    return path


def test_samples_come_from_a_process_with_its_own_cores(file):
    process = PinnedProcess(file, 1)
    assert process.sample("a", "ours") == 1.0
    assert process.sample("a", "peer") == 0.5
    assert process.sample("b", "ours") == 1.0
    process.close()
    whole = PinnedProcess(file, len(os.sched_getaffinity(0)))
    assert whole.sample("a", "ours") == len(os.sched_getaffinity(0))
    whole.close()


def test_a_process_that_ends_is_an_error(file):
    process = PinnedProcess(file, 1)
    with pytest.raises(RuntimeError, match="end: the process that measures ended with status 3"):
        process.sample("end", "ours")
