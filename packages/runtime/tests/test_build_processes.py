"""Kernels that several threads want at once are built by helper processes too."""

import time
from pathlib import Path

import pytest
from helper_processes import helper_processes

pytestmark = [pytest.mark.image_cache, pytest.mark.cpu_device]

# Kernels that three threads want: number k computes k.
PROGRAM = """
    import concurrent.futures, os, signal, sys
    sys.path.insert(0, TESTS)
    from helper_processes import helper_processes
    import xpu_runtime as xr

    def value(k):
        y = xr.zeros(1)
        source = f"#include <xpu/core.h>\\nXPU_KERNEL(1) one(xpu::global<float> y) {{ y[0] = {k}.0f; }}"
        xr.launch(xr.compile(source).kernel("one"), 1, 1, [y])
        return float(y.numpy()[0])

    def values(first, last):
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            return list(pool.map(value, range(first, last)))

    def helpers():
        return helper_processes(os.environ["XPU_CACHE_DIR"])
""".replace("TESTS", repr(str(Path(__file__).parent)))


@pytest.fixture
def run(child, tmp_path):
    """Runs PROGRAM and more of it; returns what it printed."""

    def run(code: str, **variables: str) -> str:
        env = {"XPU_CACHE_DIR": str(tmp_path / "kernels"), "XPU_BUILD_PROCESSES": "2"} | variables
        return child(PROGRAM + code, env=env).check().out

    return run


def test_they_build_and_end_with_the_process(run, tmp_path):
    out = run("""
    assert values(0, 9) == list(range(9))
    print(len(helpers()))
    """)
    assert out.split() == ["2"]
    kept = [path.suffix for path in (tmp_path / "kernels").iterdir()]
    assert kept.count(".spv") == kept.count(".bin") >= 9
    deadline = time.monotonic() + 20
    while helper_processes(str(tmp_path / "kernels")):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_they_end_when_nothing_is_asked_of_them(run):
    run("""
    import time
    values(0, 4)
    assert helpers()
    deadline = time.monotonic() + 40
    while helpers():
        assert time.monotonic() < deadline
        time.sleep(0.5)
    assert values(4, 8) == list(range(4, 8))
    assert helpers()
    """)


def test_one_thread_needs_none(run):
    run("""
    assert [value(k) for k in range(3)] == [0, 1, 2]
    assert helpers() == []
    """)


def test_they_can_be_turned_off(run):
    run(
        """
    assert values(0, 4) == list(range(4))
    assert helpers() == []
    """,
        XPU_BUILD_PROCESSES="0",
    )


def test_without_a_cache_there_are_none(run):
    run(
        """
    assert values(0, 4) == list(range(4))
    assert helpers() == []
    """,
        XPU_CACHE_SIZE="0",
    )


def test_another_takes_the_place_of_one_that_died(run):
    run("""
    values(0, 4)
    for process in helpers():
        os.kill(process, signal.SIGKILL)
    assert values(4, 9) == list(range(4, 9))
    assert len(helpers()) == 2
    """)


def test_mistakes_are_reported_as_ever(run):
    out = run("""
    def mistaken(k):
        source = f"#include <xpu/core.h>\\nXPU_KERNEL(1) one(float* y) {{ nonsense{k}; }}"
        try:
            xr.compile(source).kernel("one")
        except xr.CompileError as error:
            return f"nonsense{k}" in str(error) and "kernel:2:" in str(error)

    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        print(set(pool.map(mistaken, range(5))))
    """)
    assert out.strip() == "{True}"


def test_it_is_no_child_of_ours(run):
    """Programs wait for their own children."""
    run("""
    values(0, 4)
    assert helpers()
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        pass
    else:
        raise AssertionError("there is a child to wait for")
    """)
