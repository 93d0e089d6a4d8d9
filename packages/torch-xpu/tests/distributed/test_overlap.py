"""DDP communicates beside its backward pass, and the host waits for neither."""

import os

import pytest
from ranks import run_ranks

pytestmark = pytest.mark.values


@pytest.mark.skipif(
    os.environ.get("XPU_STRICT_MEMORY") == "1", reason="strict mode waits for every launch"
)
def test_all_buckets_are_enqueued_before_the_device_begins():
    for result in run_ranks("overlap.py"):
        assert "buckets enqueued before the device began" in result.out
        assert "buckets on the way before the last product ends" in result.out
