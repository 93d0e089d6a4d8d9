"""Collectives beside other features: workers of data loaders, threads, groups that end, other streams."""

import pytest
from ranks import run_ranks

pytestmark = pytest.mark.values


@pytest.mark.parametrize("feature", ["loader", "threads", "destroyed", "futures"])
def test_collectives_beside(feature):
    run_ranks("pairs.py", feature)


def test_a_stream_waits_for_one_that_waits_for_a_collective():
    run_ranks("pairs.py", "waited_for_by_another_stream", env={"XPU_CPU_DEVICES": "2"})
