"""Kernels that sample programs wanted next are built in the background, before they are wanted."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = [pytest.mark.cpu_device, pytest.mark.driver_binaries]

PROGRAMS = str(Path(__file__).parent / "programs")
BEGIN = "import os, time\nfrom wanted_kernels import *\n"
# Kernels that are dumped are other ones, which do not ship.
VARIABLES = {"XPU_READY_IMAGES": "0", "XPU_DUMP_KERNELS": "", "PYTHONPATH": PROGRAMS}


@pytest.fixture
def run(child, tmp_path):
    """Return a function that runs code with `wanted_kernels`, and returns what was printed."""

    def run(code, **variables):
        env = {"XPU_CACHE_DIR": str(tmp_path / "kernels")} | VARIABLES | variables
        return child(BEGIN + code, env=env).check().out

    return run


@pytest.mark.parametrize(
    ("max_", "min_", "bound"),
    [("256", 8, 200), ("3", 1, 8), ("0", 0, 2)],
    ids=["many", "few", "none"],
)
def test_what_follows_is_built_within_the_bound(run, max_, min_, bound):
    out = run("want(0); own = built(); print(own, wait_until_idle() - own)", XPU_BUILD_AHEAD=max_)
    own, ahead = map(int, out.split())
    assert own >= 1
    assert min_ <= ahead <= bound


def test_later_processes_find_it(run, tmp_path):
    all_of_them = "before = built()\nfor n in range(len(WORKS)): want(n)\nprint(built() - before)"
    needed = int(run(all_of_them, XPU_BUILD_AHEAD="0", XPU_CACHE_DIR=str(tmp_path / "other")))
    first = int(
        run(
            all_of_them.replace("len(WORKS)", "6"),
            XPU_BUILD_AHEAD="0",
            XPU_CACHE_DIR=str(tmp_path / "first"),
        )
    )
    run("for n in range(6): want(n)\nwait_until_idle()")
    assert int(run(all_of_them, XPU_BUILD_AHEAD="0")) <= needed - first - 3


def test_nothing_is_built_where_everything_is_there(run):
    run("for n in range(len(WORKS)): want(n)\nwait_until_idle()")
    out = run(
        "for n in range(len(WORKS)): want(n)\nprint(built(), wait_until_idle(), low_priority_helpers())"
    )
    before, after, helpers = out.split(maxsplit=2)
    assert before == after
    assert helpers.strip() == "[]"


def test_nothing_is_built_without_a_cache(run):
    out = run("want(0); time.sleep(1); print(low_priority_helpers(), built())", XPU_CACHE_SIZE="0")
    assert out.split() == ["[]", "0"]


def test_helpers_have_a_lower_priority(run):
    out = run("""
want(0)
end = time.monotonic() + 20
while not (found := low_priority_helpers()) and time.monotonic() < end:
    time.sleep(0.02)
print(max(os.getpriority(os.PRIO_PROCESS, pid) for pid in found) > os.getpriority(os.PRIO_PROCESS, 0))
""")
    assert out.split() == ["True"]


def test_a_program_that_ends_does_not_wait(child, tmp_path):
    env = {"XPU_CACHE_DIR": str(tmp_path)} | VARIABLES
    done = child(f"{BEGIN}want(0)\nprint(time.time())", env=env).check()
    assert time.time() - float(done.out) < 5


@pytest.mark.parametrize("seed", range(6))
def test_values_survive_killed_helpers_and_emptied_cache(run, seed):
    choice = random.Random(seed)
    threads, kills, empties = choice.randint(1, 3), seed % 2 == 0, seed % 3 == 0
    out = run(f"import killed_helpers\nkilled_helpers.run({seed}, {threads}, {kills}, {empties})")
    assert out.split() == ["done"]


def test_ctrl_c_while_kernels_are_built(tmp_path):
    """Also where the program waits for one that is built ahead."""
    code = BEGIN + "print('begun', flush=True)\nfor n in range(len(WORKS)): want(n)\nprint('end')"
    env = os.environ | {"XPU_CACHE_DIR": str(tmp_path)} | VARIABLES
    for delay in (0.0, 0.5, 1.5):
        process = subprocess.Popen(
            [sys.executable, "-c", code], env=env, stdout=-1, stderr=-1, text=True
        )
        assert process.stdout.readline().strip() == "begun"
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
        assert process.returncode in (-signal.SIGINT, 130) or "end" in out, err
        assert "KeyboardInterrupt" in err or "end" in out
        for file in Path(tmp_path).glob("*.bin"):
            file.unlink()


@pytest.mark.parametrize("feature", ["fork", "replay_a_graph", "record_a_trace"])
def test_other_features_work_while_kernels_are_built(run, feature):
    run(f"import other_features\nwant(0)\nother_features.{feature}()")


def test_each_part_of_a_split_device_is_cached(run):
    """A context of several devices has one binary for each program."""
    code = """
before = built()
for device in (0, 1):
    with xr.device(device):
        for n in range(3): want(n)
print(built() - before)
"""
    variables = {"XPU_CPU_DEVICES": "2", "XPU_BUILD_AHEAD": "0"}
    assert int(run(code, **variables)) > 0
    assert int(run(code, **variables)) == 0


@pytest.mark.parametrize("prepare", ["make_read_only", "fill_disk"])
def test_nothing_is_built_ahead_for_a_cache_that_keeps_nothing(run, prepare):
    code = "for n in range(3): want(n)\nwait_until_idle()\nprint(low_priority_helpers())"
    assert run(f"import unwritable_cache\nunwritable_cache.{prepare}()\n{code}").split() == ["[]"]
    assert run(code).split() != ["[]"]
