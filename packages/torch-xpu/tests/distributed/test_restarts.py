"""torchrun starts the ranks again when one is killed."""

import re

import pytest
from torchrun import TORCHRUN, launch

pytestmark = pytest.mark.values

STEPS = 6
KILLED_AT = 3


def steps_of(out: str, rank: int) -> list[tuple[int, int, float]]:
    """Return the steps that a rank has done, with the number of the start and the loss."""
    lines = re.findall(rf"rank {rank} step (\d+) start (\d+) loss ([\d.]+)", out)
    return [(int(step), int(start), float(loss)) for step, start, loss in lines]


def test_training_goes_on_from_the_checkpoint_after_a_rank_was_killed(tmp_path):
    restarts = [*TORCHRUN, "--max-restarts", "1", "--monitor-interval", "0.2"]
    out = launch(restarts, "restarted.py", str(tmp_path / "checkpoint"))
    for rank in range(2):
        done = [(step, start) for step, start, _ in steps_of(out, rank)]
        assert done == [(step, int(step >= KILLED_AT)) for step in range(STEPS)]
