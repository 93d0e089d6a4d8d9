"""Distributed checkpoints: saved by two ranks, loaded by one and by two, with the same bits."""

import pytest
from ranks import run_ranks

pytestmark = pytest.mark.values


@pytest.mark.parametrize("action", ["save", "save_async"])
def test_a_checkpoint_of_two_ranks_is_loaded_by_one_and_by_two(action, tmp_path):
    folder = str(tmp_path / "checkpoint")
    run_ranks("checkpoint.py", action, folder)
    for ranks in (1, 2):
        for result in run_ranks("checkpoint.py", "load", folder, ranks=ranks):
            assert "tensors are equal" in result.out


def test_a_checkpoint_of_one_rank_is_loaded_by_two(tmp_path):
    folder = str(tmp_path / "checkpoint")
    run_ranks("checkpoint.py", "save", folder, ranks=1)
    run_ranks("checkpoint.py", "load", folder)
