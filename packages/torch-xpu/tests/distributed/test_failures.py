"""Ranks that are killed, stall, or leave: what the others see, and when."""

import pytest
from ranks import run_ranks

pytestmark = pytest.mark.values

KILLED = -9


@pytest.mark.parametrize("backend", ["xccl", "gloo"])
def test_a_killed_rank_is_noticed_within_two_seconds(backend):
    survivor, killed = run_ranks("failures.py", "killed", backend, check=False)
    survivor.check()
    assert killed.exit_code == KILLED


def test_waits_of_a_work_and_of_its_future_raise():
    survivor, _ = run_ranks("failures.py", "waited", check=False)
    survivor.check()


@pytest.mark.parametrize(
    "scenario",
    [
        "stalled",
        "short_wait",
        "aborted",
        "interrupted",
        "pending_at_exit",
        "completed_at_exit",
        "forked",
    ],
)
def test_scenario(scenario):
    run_ranks("failures.py", scenario)
