"""Helper processes end with the program that they build for, however that ends, and leave no zombies."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from helper_processes import helper_processes, watchers

pytestmark = pytest.mark.cpu_device

# `--repeat 25` makes 200 of them.
COMPILES = 8

FOLDER = Path(__file__).parent
BEGIN = """
import ctypes, os, signal, time
import xpu_runtime as xr
from hanging_build import *
from helper_processes import helper_processes, watchers, zombies_of
"""


@pytest.fixture
def cache(tmp_path):
    return str(tmp_path / "kernels")


@pytest.fixture
def variables(cache):
    path = {"PYTHONPATH": f"{FOLDER / 'programs'}:{FOLDER}"}
    return path | {"XPU_CACHE_DIR": cache, "XPU_BUILD_PROCESSES": "1", "XPU_BUILD_AHEAD": "0"}


@pytest.fixture
def run(child, variables):
    """Runs code with `hanging_build`; returns what it printed."""

    def run(code, **more):
        return child(BEGIN + code, env=variables | more).check().out

    return run


@pytest.fixture
def start(variables):
    """Starts code with `hanging_build`; kills it at the end."""
    started = []

    def start(code):
        process = subprocess.Popen(
            [sys.executable, "-c", BEGIN + code],
            env=os.environ | variables,
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def require_none_left(cache, seconds=2.0):
    deadline = time.monotonic() + seconds
    while left := helper_processes(cache) + watchers(cache):
        assert time.monotonic() < deadline, left
        time.sleep(0.02)


def test_containers_keep_no_zombies(run, cache):
    """The program is PID 1 there: what its helpers leave is its own."""
    run(f"""
PR_SET_CHILD_SUBREAPER = 36
assert ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
for number in range({COMPILES}):
    build()
    assert len(watchers(CACHE)) == 1
    os.kill(helper_processes(CACHE)[0], signal.SIGKILL)
    wait_until(lambda: not watchers(CACHE))
wait_until(lambda: not zombies_of(os.getpid()))
build()
""")
    require_none_left(cache)


def test_signals_while_one_starts_leave_no_zombie(run):
    """A handler that interrupts system calls, as Python's own are."""
    run("""
signal.signal(signal.SIGALRM, lambda *_: None)
signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
for number in range(5):
    build()
    os.kill(helper_processes(CACHE)[0], signal.SIGKILL)
    wait_until(lambda: not watchers(CACHE))
signal.setitimer(signal.ITIMER_REAL, 0)
assert zombies_of(os.getpid()) == []
""")


@pytest.mark.parametrize("forks", [False, True], ids=["alone", "with a forked child"])
def test_none_is_left_if_the_program_is_killed_in_a_build(start, cache, forks):
    """A forked child has the program's sockets too."""
    fork = """
build()
forked = os.fork()
if forked == 0:
    time.sleep(60)
    os._exit(0)
print(forked, flush=True)
"""
    program = start((fork if forks else "") + "build_without_end()")
    forked = int(program.stdout.readline()) if forks else None
    assert program.stdout.readline()
    time.sleep(0.5)  # it is in the second build
    program.kill()
    try:
        require_none_left(cache)
    finally:
        if forked:
            os.kill(forked, signal.SIGKILL)


def test_ctrl_c_ends_the_build(start, cache):
    program = start("""
try:
    build_without_end()
except KeyboardInterrupt:
    print("interrupted", flush=True)
    time.sleep(60)
""")
    assert program.stdout.readline()
    time.sleep(0.5)
    program.send_signal(signal.SIGINT)
    assert program.stdout.readline().strip() == "interrupted"
    require_none_left(cache)
    assert program.poll() is None


def test_a_helper_ends_with_the_process_that_watches_it(start, cache):
    program = start("build_without_end()")
    assert program.stdout.readline()
    (watcher,) = watchers(cache)
    os.kill(watcher, signal.SIGKILL)
    deadline = time.monotonic() + 5
    while watcher in watchers(cache):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    program.kill()
    require_none_left(cache)


def test_they_are_in_no_folder_of_the_program(run):
    run("""
build()
def folders():
    return {os.readlink(f"/proc/{pid}/cwd") for pid in helper_processes(CACHE) + watchers(CACHE)}
wait_until(lambda: folders() == {"/"}, 5)
""")


def test_relative_paths_in_options_follow_the_program(run, tmp_path):
    """The compiler writes this file itself."""
    (tmp_path / "later").mkdir()
    run(f"""
build()
os.chdir({str(tmp_path / "later")!r})
build("times", ["-ftime-trace=times.json"])
assert os.path.exists("times.json")
""")


def test_a_crash_is_an_error_also_where_children_are_ignored(run):
    """Servers ignore SIGCHLD so that the system waits for their children."""
    out = run("""
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
text = '''#include <xpu/core.h>
XPU_KERNEL(1) k(xpu::global<float> y) {
  float a = y[xpu::global_id()], s = __spirv_ocl_sin(a), c = __spirv_ocl_cos(a);
  float r = __spirv_ocl_sin(s) * __spirv_ocl_cos(s) + __spirv_ocl_sin(c) * __spirv_ocl_cos(c);
  y[xpu::global_id()] = r;
}'''
try:
    xr.compile(text).kernel("k")
except xr.CompileError as error:
    print("crashed 2 times" in str(error))
""")
    assert out.strip() == "True"
