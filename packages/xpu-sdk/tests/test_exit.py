"""How processes end with work in flight: with their own status."""

import os
import time

import exit_programs
import pytest

WORKS = sorted({work for _, work in exit_programs.PROGRAMS})
ENDINGS = list(exit_programs.ENDINGS)

IS_STRICT = os.environ.get("XPU_STRICT_MEMORY") == "1"
needs_pending_work = pytest.mark.skipif(IS_STRICT, reason="strict mode waits for every launch")

# Seconds of products that are pending as the program ends.
PENDING_SECONDS = (0, 0.1, 0.2 if IS_STRICT else 50)

# Every framework with every kind of work, and each of the two with every ending and every number of seconds.
ENDED = [
    (
        frameworks,
        work,
        ENDINGS[(first + second + half) % len(ENDINGS)],
        PENDING_SECONDS[(second + half) % 3],
    )
    for first, frameworks in enumerate(("torch", "jax", "both"))
    for second, work in enumerate(WORKS)
    for half in (0, len(ENDINGS) // 2)
]


@pytest.mark.parametrize(("frameworks", "work", "ending", "seconds"), ENDED)
def test_status(child, frameworks, work, ending, seconds):
    text, status = exit_programs.program(frameworks, work, ending, seconds)
    for _ in range(5):
        done = child(text)
        if THREAD_ENDED_IN_JAX not in done.err:
            break
    waited = time.monotonic() - float(done.out.split()[-1])
    assert done.exit_code == status, done.err
    assert "pending when the process ended failed" not in done.err
    assert waited < 5 + SLACK


# Python ends a daemon thread that wants its lock after the main thread has ended, by an exception; in the C++
# code of jaxlib that exception ends the process, on every device of JAX.
THREAD_ENDED_IN_JAX = "FATAL: exception not rethrown"

SLACK = 10  # seconds that a loaded machine takes to end a process


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
@needs_pending_work
@pytest.mark.parametrize(("ending", "status"), [("", 0), ("sys.exit(4)", 4)])
@pytest.mark.parametrize("thread", [False, True], ids=["main", "daemon"])
def test_work_that_does_not_end(child, ending, status, thread):
    """Is left alone: it has not failed, so it does not change the status."""
    done = child(
        f"""
        import sys, threading, time, torch
        x = torch.rand(3000, 3000, device="xpu")
        x @ x
        def work():
            for _ in range(1000):
                x @ x
        if {thread}:
            threading.Thread(target=work, daemon=True).start()
            time.sleep(0.5)
        else:
            work()
        import atexit
        atexit.register(lambda: print(time.monotonic()))
        {ending}
        """,
        env={"XPU_EXIT_TIMEOUT": "1"},
    )
    waited = time.monotonic() - float(done.out)
    assert done.exit_code == status, done.err
    assert "ends without waiting" in done.err
    assert (
        waited < 10
    )  # a second, and what the machine takes to end a process; the work takes a minute


@pytest.mark.values
@needs_pending_work
def test_work_that_fails_before_work_that_does_not_end(child):
    done = child(
        """
        import torch
        torch.zeros(4, device="xpu")[torch.tensor([9], device="xpu")]
        x = torch.rand(3000, 3000, device="xpu")
        for _ in range(1000):
            x @ x
        """,
        env={"XPU_EXIT_TIMEOUT": "2"},
    )
    assert done.exit_code == 1
    assert "index 9 is out of range" in done.err


JOINED = """
    import atexit, threading
    stop, threads = threading.Event(), []
    {before}
    import torch
    x = torch.ones(1000, device="xpu")
    {after}
    def work():
        y = x
        while not stop.is_set():
            {work}
    for _ in range(2):
        threads.append(threading.Thread(target=work, daemon=True))
        threads[-1].start()
    import time
    time.sleep(0.2)
"""
JOIN = "atexit.register(lambda: (stop.set(), [thread.join() for thread in threads]))"

USES = {
    "compute": "y = y * 1.0001",
    "allocate": "torch.empty(1000, device='xpu')",
    "query": "torch.xpu.current_stream().query()",
    "wait": "torch.xpu.synchronize()",
    "event": "e = torch.xpu.Event(); e.record(); e.synchronize()",
    "read": "y.sum().item()",
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("registered", ["before", "after", "never"])
def test_threads_that_use_the_device_as_the_process_ends(child, registered, use):
    """They end without a word, whether or not a function of atexit joins them."""
    text = JOINED.format(
        before=JOIN * (registered == "before"), after=JOIN * (registered == "after"), work=USES[use]
    )
    done = child(text, timeout=60)
    assert done.exit_code == 0, done.err
    assert not done.err


def test_a_thread_that_goes_on_after_errors(child):
    """Its work is refused again and again, and the process ends all the same."""
    work = "\n            ".join(["try: y * 2", "except RuntimeError: pass"])
    done = child(JOINED.format(before=JOIN, after="", work=work), timeout=60)
    assert done.exit_code == 0, done.err


def test_functions_of_atexit_that_take_long(child):
    """What they do is not waited for by the process's end, so it does not use up its time."""
    done = child(
        """
        import atexit, time
        atexit.register(time.sleep, 1.5)
        import torch
        x = torch.ones(1000, device="xpu")
        for _ in range(30):
            x = x * 1.0001
        """,
        env={"XPU_EXIT_TIMEOUT": "1"},
    )
    assert done.exit_code == 0, done.err
    assert not done.err


@pytest.mark.values
def test_a_forked_child_waits_for_none_of_its_parents_threads(child):
    """Which enqueued work a moment ago, and are not there."""
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


def test_objects_that_wait_as_the_interpreter_ends(child):
    done = child(
        """
        import sys, torch

        class Waits:
            def __del__(self):
                self.synchronize()

        waits = Waits()
        waits.synchronize = torch.xpu.synchronize
        waits.itself = waits  # collected with the interpreter
        x = torch.ones(1000, device="xpu") + 1
        sys.modules["waits"] = waits
        """
    )
    assert done.exit_code == 0, done.err
