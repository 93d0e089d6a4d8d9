"""How processes end with work in flight: with their own status."""

import os

import exit_programs
import pytest

WORKS = sorted({work for _, work in exit_programs.PROGRAMS})
ENDINGS = list(exit_programs.ENDINGS)

# Every framework with every kind of work, and each of the two with every ending: a third of all combinations.
ENDED = [
    (frameworks, work, ENDINGS[(first + second + half) % len(ENDINGS)])
    for first, frameworks in enumerate(("torch", "jax", "both"))
    for second, work in enumerate(WORKS)
    for half in (0, len(ENDINGS) // 2)
]


@pytest.mark.parametrize(("frameworks", "work", "ending"), ENDED)
def test_status(child, frameworks, work, ending):
    text, status = exit_programs.program(frameworks, work, ending)
    done = child(text)
    assert done.exit_code == status, done.err
    assert "ended failed" not in done.err


FAILING = """
    import torch
    torch.zeros(4, device="xpu")[torch.tensor([9], device="xpu")]
    {end}
"""


@pytest.mark.values
@pytest.mark.parametrize(("end", "status"), [("", 1), ("import sys; sys.exit(4)", 4)])
def test_work_that_fails_at_the_end(child, end, status):
    done = child(FAILING.format(end=end))
    assert done.exit_code == status
    assert "index 9 is out of range" in done.err


@pytest.mark.values
@pytest.mark.skipif(
    os.environ.get("XPU_STRICT_MEMORY") == "1", reason="strict mode waits for every launch"
)
def test_work_that_does_not_end(child):
    done = child(
        """
        import torch
        x = torch.rand(3000, 3000, device="xpu")
        for _ in range(1000):
            x @ x
        """,
        env={"XPU_EXIT_SECONDS": "1"},
    )
    assert done.exit_code == 1
    assert "has not ended in time" in done.err


@pytest.mark.values
def test_a_forked_child_waits_for_none_of_its_parents_threads(child):
    """Which queued work a moment ago, and are not there."""
    seconds = child(
        """
        import os, sys, time, torch
        (torch.ones(1000, device="xpu") + 1).sum().item()
        begin = time.monotonic()
        if (pid := os.fork()) == 0:
            sys.exit(3)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 3
        print(time.monotonic() - begin)
        """
    )
    assert float(seconds.check().out) < 1.5  # a wait for them would be more
