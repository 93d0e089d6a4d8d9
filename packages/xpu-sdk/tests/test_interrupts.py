"""Ctrl-C at random instants: heard soon, and no array is left half updated."""

import os
import time

import interrupt_programs
import pytest

pytestmark = pytest.mark.skipif(
    os.environ.get("XPU_STRICT_MEMORY") == "1",
    reason="strict mode waits for every launch, and hears nothing meanwhile",
)

TIMES = 3
SLACK = 3  # seconds that a loaded machine may add


@pytest.mark.values
@pytest.mark.parametrize(("framework", "work"), interrupt_programs.PROGRAMS)
def test_programs_are_interrupted(child, framework, work):
    text = interrupt_programs.program(framework, work, TIMES, seed=time.time_ns())
    done = child(text).check()
    seconds = [float(line) for line in done.out.split()]
    assert len(seconds) == TIMES
    assert max(seconds) < 1 + SLACK, seconds
