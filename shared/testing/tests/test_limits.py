"""A test that hangs ends within its limit, and its children with it; a killed run says where it was."""

import signal
import subprocess
import sys
import time

import pytest
from test_processes import alive, wait_until
from xpu_testing.limits import DEFAULT_SECONDS
from xpu_testing.processes import ProcessTree

SUITE = """
import ctypes, os, subprocess, sys, time
import pytest

def start(name):
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    open(name, "w").write(f"{os.getpid()} {child.pid}")

def test_right():
    pass

def test_hangs_in_python():
    start("python")
    time.sleep(600)

def test_hangs_with_the_interpreters_lock():
    start("lock")
    mutex, lock = ctypes.create_string_buffer(64), ctypes.PyDLL(None).pthread_mutex_lock
    lock(mutex)
    lock(mutex)

@pytest.mark.timeout(600)
def test_may_take_long():
    time.sleep(4)

def test_dies():
    start("dies")
    os.kill(os.getpid(), 11)
"""


@pytest.fixture
def suite(tmp_path):
    (tmp_path / "test_it.py").write_text(SUITE)

    trees = []

    def start(*arguments, limit=2):
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py"]
        command += [f"--test-timeout={limit}", *arguments]
        trees.append(
            ProcessTree(
                command,
                cwd=tmp_path,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
        )
        return trees[-1].process

    yield start
    for tree in trees:
        tree.kill()


def pids(file):
    return [int(pid) for pid in file.read_text().split()]


def test_a_test_over_its_limit_fails_and_the_others_go_on(suite, tmp_path):
    process = suite("-k", "right or python or long")
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "1 failed, 2 passed" in out
    assert "test_it.py::test_hangs_in_python takes longer than its limit" in out
    assert 'test_it.py", line 14 in test_hangs_in_python' in out  # the stacks of all threads


def test_a_test_that_cannot_fail_is_killed_with_its_children(suite, tmp_path):
    begin = time.monotonic()
    process = suite("-k", "right or lock")
    out, _ = process.communicate(timeout=120)
    assert time.monotonic() - begin < 30
    assert process.returncode == -signal.SIGKILL
    told = (
        "killed with its children, having hung in test_it.py::test_hangs_with_the_interpreters_lock"
    )
    assert told in out
    assert "in test_hangs_with_the_interpreters_lock" in out
    assert "time.sleep(600)" in out.partition("running were:")[2]
    wait_until(lambda: not any(map(alive, pids(tmp_path / "lock"))))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_killed_run_names_its_test(suite, tmp_path, number):
    process = suite("-k", "right or python", limit=100)
    wait_until(lambda: (tmp_path / "python").exists() and pids(tmp_path / "python"))
    process.send_signal(number)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == -number
    assert "the process of the tests ended in test_it.py::test_hangs_in_python, after" in out
    wait_until(lambda: not any(map(alive, pids(tmp_path / "python"))))


def test_a_crash_names_its_test(suite, tmp_path):
    process = suite("-k", "right or dies")
    out, _ = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGSEGV
    assert "the process of the tests ended in test_it.py::test_dies, after" in out
    wait_until(lambda: not any(map(alive, pids(tmp_path / "dies"))))


def test_a_run_that_ends_says_nothing(suite):
    process = suite("-k", "right")
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "xpu_testing:" not in out


def test_a_process_that_hangs_at_its_end_is_killed(suite, tmp_path):
    (tmp_path / "conftest.py").write_text("import atexit, time\natexit.register(time.sleep, 600)\n")
    process = suite("-k", "right")
    out, _ = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    assert "1 passed" in out
    assert "having hung in what follows the tests" in out


def test_the_limit_of_the_collection_ends_where_other_processes_collect(suite, tmp_path):
    """As with pytest-xdist, whose first process collects nothing and runs for as long as the others."""
    (tmp_path / "conftest.py").write_text(
        "import time, pytest\n"
        "@pytest.hookimpl(tryfirst=True)\n"
        "def pytest_collection(session): session.testscollected = 1; return True\n"
        "def pytest_runtestloop(session): time.sleep(4); return True\n"
    )
    process = suite()
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0, out


def test_stacks_are_shown_before_a_test_fails(pytestconfig):
    assert 0 < float(pytestconfig.getini("faulthandler_timeout")) < DEFAULT_SECONDS
