"""Helper processes build kernels: several at once, and what kills a compiler kills none of the user's."""

import time
from pathlib import Path

import pytest
from helper_processes import helper_processes

pytestmark = pytest.mark.cpu_device

FOLDER = Path(__file__).parent
BEGIN = """
    import logging, os, signal, time
    import slow_build
    import xpu_runtime as xr
    from numbered_kernels import *
"""


@pytest.fixture
def run(child, tmp_path):
    """Runs code with `numbered_kernels`; returns what it printed."""

    def run(code: str, **variables: str) -> str:
        env = {"XPU_CACHE_DIR": str(tmp_path / "kernels"), "XPU_BUILD_PROCESSES": "2"} | variables
        env["PYTHONPATH"] = f"{FOLDER / 'programs'}:{FOLDER}"
        return child(BEGIN + code, env=env).check().out

    return run


def test_they_build_and_end_with_the_process(run, tmp_path):
    out = run("""
    assert values(0, 9) == list(range(9))
    print(len(helpers()))
    """)
    assert out.split() == ["2"]
    suffixes = [path.suffix for path in (tmp_path / "kernels").iterdir()]
    assert suffixes.count(".spv") == suffixes.count(".bin") >= 9
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


def test_one_thread_needs_one(run):
    run("""
    assert [value(k) for k in range(3)] == [0, 1, 2]
    assert len(helpers()) == 1
    assert "libsycl-jit" not in open("/proc/self/maps").read()
    """)


def test_none_is_started_for_what_is_kept(run):
    code = """
    assert [value(k) for k in range(3)] == [0, 1, 2]
    print(len(helpers()))
    """
    assert run(code).strip() == "1"
    assert run(code).strip() == "0"


def test_they_can_be_turned_off(run):
    run(
        """
    assert values(0, 4) == list(range(4))
    assert helpers() == []
    """,
        XPU_BUILD_PROCESSES="0",
    )


def test_they_need_no_cache(run, tmp_path):
    run(
        """
    assert values(0, 4) == list(range(4))
    assert helpers()
    """,
        XPU_CACHE_SIZE="0",
    )
    assert not (tmp_path / "kernels").exists()


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


@pytest.mark.parametrize("cache", ["1G", "0"])
def test_a_helper_killed_during_a_build_is_replaced_once(run, tmp_path, cache):
    run(
        """
    assert slow_build.build_under_fire(1).name == "slow"
    assert len(slow_build.killed) == 1
    """,
        XPU_CACHE_SIZE=cache,
        XPU_BUILD_PROCESSES="1",
    )


def test_integers_whose_bits_are_reversed(run):
    """On these the translator to SPIR-V crashes, unless it knows the names of values."""
    run(
        """
    import numpy as np, xpu_runtime as xr
    source = '''
    #include <xpu/core.h>
    using namespace xpu;
    XPU_KERNEL(1) reverse(global<const u8> in, global<u8> out) {
      u8 x = in[global_id()];
      x = (x & 0x55) << 1 | (x & 0xaa) >> 1;
      x = (x & 0x33) << 2 | (x & 0xcc) >> 2;
      out[global_id()] = (x & 0x0f) << 4 | (x & 0xf0) >> 4;
    }'''
    numbers = np.arange(256, dtype=np.uint8)
    x = xr.from_numpy(numbers)
    out = xr.empty((256,), "u8")
    xr.launch(xr.compile(source).kernel("reverse"), 256, 16, (x, out))
    expected = [int(f"{n:08b}"[::-1], 2) for n in numbers]
    assert out.numpy().tolist() == expected
    """
    )


@pytest.mark.parametrize("cache", ["1G", "0"])
def test_two_crashes_are_an_error_that_names_the_signal_and_the_source(run, tmp_path, cache):
    out = run(
        """
    try:
        slow_build.build_under_fire(2)
    except xr.CompileError as error:
        print(error)
    values(1, 4)
    """,
        XPU_CACHE_SIZE=cache,
        XPU_BUILD_PROCESSES="1",
        XPU_DUMP_KERNELS="",
        TMPDIR=str(tmp_path),
    )
    assert "signal 9 (Killed)" in out
    (saved,) = tmp_path.rglob("xpu-died-*.sycl")
    assert str(saved) in out
    assert "waste<31>" in saved.read_text()


@pytest.mark.parametrize("cache", ["1G", "0"])
def test_a_thread_that_waits_for_a_build_that_crashes_goes_on(run, cache):
    """It gets the error, too, or builds the kernel itself."""
    out = run(
        """
    import threading
    from concurrent.futures import ThreadPoolExecutor

    def build(_):
        try:
            return slow_build.build().name
        except xr.CompileError as error:
            return str(error).splitlines()[0]

    value(0)
    threading.Thread(target=slow_build.kill, args=(2, 0.5), daemon=True).start()
    with ThreadPoolExecutor(2) as pool:
        print(*pool.map(build, range(2)), sep="\\n")
    assert value(1) == 1
    """,
        XPU_CACHE_SIZE=cache,
        XPU_BUILD_PROCESSES="1",
    )
    first, second = sorted(out.splitlines(), key="slow".__eq__)  # a built one last
    assert "the compiler crashed 2 times on this source" in first
    assert second in (first, "slow")


@pytest.mark.parametrize("helpers", ["1", "0"])
def test_a_build_over_its_time_limit_is_an_error_that_names_the_source(run, tmp_path, helpers):
    out = run(
        """
    from xpu_runtime._native import C

    assert value(0) == 0
    C.set_build_time_limit(100)
    begin = time.monotonic()
    try:
        slow_build.build()
    except xr.CompileError as error:
        print(error)
    assert time.monotonic() - begin < 10
    C.set_build_time_limit(120_000)
    assert value(1) == 1
    """,
        XPU_BUILD_PROCESSES=helpers,
        XPU_DUMP_KERNELS="",
        TMPDIR=str(tmp_path),
    )
    assert "the compiler had not built this source after 0.1 s" in out
    (saved,) = tmp_path.rglob("xpu-died-*.sycl")
    assert str(saved) in out
    assert "waste<31>" in saved.read_text()


def test_a_helper_over_its_time_limit_ends(run):
    run(
        """
    from xpu_runtime._native import C

    value(0)
    (helper,) = helpers()
    C.set_build_time_limit(500)
    try:
        slow_build.build()
    except xr.CompileError:
        deadline = time.monotonic() + 5
        while helper in helpers():
            assert time.monotonic() < deadline
            time.sleep(0.05)
    else:
        raise AssertionError("the build took less than its limit")
    """,
        XPU_BUILD_PROCESSES="1",
    )


def test_what_kills_the_compiler_is_an_error(run):
    """Sines and cosines of each other, as the device library does not write them."""
    out = run("""
    text = '''#include <xpu/core.h>
    XPU_KERNEL(1) k(xpu::global<float> y) {
      float a = y[xpu::global_id()], s = __spirv_ocl_sin(a), c = __spirv_ocl_cos(a);
      float r = __spirv_ocl_sin(s) * __spirv_ocl_cos(s) + __spirv_ocl_sin(c) * __spirv_ocl_cos(c);
      y[xpu::global_id()] = r;
    }'''
    try:
        xr.compile("\\n".join(line.strip() for line in text.splitlines())).kernel("k")
    except xr.CompileError as error:
        assert "the compiler crashed 2 times on this source" in str(error), error
    print(value(3))
    """)
    assert out.strip() == "3.0"


def test_without_any_the_process_builds_itself(run):
    """None that is started finds the device."""
    out = run("""
    assert value(7) == 7
    for process in helpers():
        os.kill(process, signal.SIGKILL)
    os.environ["ONEAPI_DEVICE_SELECTOR"] = "opencl:fpga"
    warned = []
    logging.getLogger("xpu_runtime").addHandler(type("", (logging.Handler,), {
        "emit": lambda self, record: warned.append(record.getMessage())})())
    print(values(0, 3), helpers(), [text for text in warned if "no helper process" in text])
    """)
    assert out.startswith("[0.0, 1.0, 2.0] []")
    assert out.count("no helper process can be started") == 1
