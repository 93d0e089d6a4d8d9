"""Traces of kernels of @triton.jit: names, and what is left of a launch that is interrupted or fails."""

import json
import sys
from pathlib import Path

import pytest
import torch
from xpu_testing import run_child

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER))

import kernels  # noqa: E402

pytestmark = pytest.mark.values

START = f"""
import os, sys, warnings
sys.path.insert(0, {str(FOLDER)!r})
warnings.simplefilter('ignore')
import json, signal, threading
import torch, kernels
import xpu_runtime as xr
x = torch.ones(64, device="xpu")
out = torch.empty_like(x)
kernels.add(x, x)
"""
# What is to be traced. Each leaves the device usable.
FAILURES = {
    "an assertion fails": """
bad = x * 300
kernels.checked[(1,)](bad, out, BLOCK=64, debug=True)
try:
    torch.xpu.synchronize()
except RuntimeError as error:
    assert "too large" in str(error), error
else:
    raise AssertionError("no fault")
""",
    "an assertion fails, and nothing waits": """
bad = x * 300
kernels.checked[(1,)](bad, out, BLOCK=64, debug=True)
""",
    "an interrupt while a kernel is compiled": """
stopped = threading.Event()
def interrupt():
    while not stopped.wait(0.2):
        os.kill(os.getpid(), signal.SIGINT)
thread = threading.Thread(target=interrupt)
thread.start()
try:
    for stages in range(1, 400):
        kernels.add_kernel[(1,)](x, x, out, 64, BLOCK=1 << stages % 9, num_stages=stages)
    raise AssertionError("no interrupt")
except KeyboardInterrupt:
    pass
finally:
    while thread.is_alive():
        try:
            stopped.set()
            thread.join()
        except KeyboardInterrupt:
            pass
""",
}
END = """
assert kernels.add(x, x).sum().item() == 128
"""


def indented(text):
    return "".join(f"    {line}\n" for line in text.splitlines())


def names_in(path):
    events = json.loads(path.read_text())["traceEvents"]
    return [event["name"] for event in events if event.get("cat") == "kernel"]


def trace(program, path):
    """Run ``xpu-sdk trace`` with a program."""
    arguments = ["trace", "-o", str(path), str(program)]
    command = (
        f"import sys\nfrom xpu_sdk.cli import main\nsys.argv[1:] = {arguments!r}\nsys.exit(main())"
    )
    return run_child(command, env=caches(path.parent), timeout=200)


def caches(tmp_path):
    return {"XPU_CACHE_DIR": str(tmp_path), "TRITON_CACHE_DIR": str(tmp_path / "triton")}


def test_a_profile_shows_kernels_by_name(tmp_path):
    from torch.profiler import ProfilerActivity, profile

    x = torch.ones(1000, device="xpu")
    kernels.add(x, x)
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.XPU]) as found:
        kernels.add(x, x)
        torch.compile(lambda x: kernels.add(x.sin(), x))(x)
        torch.xpu.synchronize()
    path = tmp_path / "trace.json"
    found.export_chrome_trace(str(path))
    assert names_in(path).count("add_kernel") == 2


def test_a_trace_of_the_runtime_has_launches(tmp_path, xr):
    path = tmp_path / "trace.json"
    x = torch.ones(1000, device="xpu")
    with xr.trace.record(path):
        kernels.add(x, x)
    assert "add_kernel" in path.read_text()


@pytest.mark.parametrize("failure", FAILURES)
def test_a_profile_ends_after_a_failure(failure, tmp_path):
    path = tmp_path / "trace.json"
    run_child(
        f"""{START}
from torch.profiler import ProfilerActivity, profile
try:
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.XPU]) as found:
        kernels.add(x, x)
{indented(indented(FAILURES[failure]))}
except RuntimeError as error:
    assert "nothing waits" in {failure!r}, error
found.export_chrome_trace({str(path)!r})
try:
    torch.xpu.synchronize()
except RuntimeError as error:
    assert "nothing waits" in {failure!r}, error
{END}
with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.XPU]) as found:
    kernels.add(x, x)
    torch.xpu.synchronize()
assert any(event.key == "add_kernel" for event in found.key_averages())
""",
        env=caches(tmp_path),
        timeout=200,
    ).check()
    names = names_in(path)
    assert "add_kernel" in names
    assert ("checked" in names) == ("assertion" in failure)


@pytest.mark.parametrize("failure", FAILURES)
def test_a_trace_command_writes_its_file_after_a_failure(failure, tmp_path):
    program, path = tmp_path / "program.py", tmp_path / "trace.json"
    program.write_text(START + FAILURES[failure])
    done = trace(program, path)
    unseen = "nothing waits" in failure
    assert (done.exit_code == 0) != unseen, done.err
    assert ("too large" in done.err) == unseen, done.err
    names = names_in(path)
    assert "add_kernel" in names
    assert ("checked" in names) == ("assertion" in failure)


def test_a_trace_command_writes_its_file_after_an_interrupt(tmp_path):
    """The program does not catch the interrupt."""
    program, path = tmp_path / "program.py", tmp_path / "trace.json"
    program.write_text(
        START
        + """
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
for stages in range(1, 4000):
    kernels.add_kernel[(1,)](x, x, out, 64, BLOCK=1 << stages % 9, num_stages=stages)
"""
    )
    done = trace(program, path)
    assert done.exit_code in (130, 1, -2), done
    assert "KeyboardInterrupt" in done.err or done.exit_code == 130
    assert "add_kernel" in names_in(path)
