"""Two threads at once: pairs of what changes how work reaches a device, and the end of the process."""

from itertools import combinations_with_replacement
from pathlib import Path

import pytest
from concurrent_actions import ACTIONS

FOLDER = str(Path(__file__).parent)
PAIRS = {
    first: [pair for pair in combinations_with_replacement(ACTIONS, 2) if pair[0] == first]
    for first in ACTIONS
}
ROUNDS = 50

RUN = """
    import sys
    sys.path.insert(0, {folder!r})
    sys.argv = {arguments!r}
    import concurrent_actions
    concurrent_actions.{call}
"""


@pytest.mark.values
@pytest.mark.parametrize("first", PAIRS)
def test_pairs_of_actions(child, first):
    names = [name for pair in PAIRS[first] for name in pair]
    arguments = ["concurrent_actions", str(ROUNDS), *names]
    child(RUN.format(folder=FOLDER, arguments=arguments, call="main()"), timeout=500).check()


@pytest.mark.values
@pytest.mark.parametrize("name", [name for name in ACTIONS if name != "interrupt"])
def test_the_process_ends_beside_an_action(child, name):
    done = child(RUN.format(folder=FOLDER, arguments=[], call=f"act_until_exit({name!r})"))
    assert done.exit_code == 0, done.err
    assert "Traceback" not in done.err, done.err
