"""Memory, threads and files of a process stay level. `programs/leaks.py` does more repetitions."""

import pytest
from ranks import run_ranks

pytestmark = pytest.mark.values


@pytest.mark.parametrize(("repeated", "count"), [("steps", 200), ("groups", 40), ("default", 40)])
def test_what_a_process_holds_stays_level(repeated, count):
    for result in run_ranks("leaks.py", repeated, str(count)):
        assert "level" in result.out
