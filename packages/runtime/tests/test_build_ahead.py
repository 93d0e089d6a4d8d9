"""Kernels that programs of the zoo wanted next are built in the background, before they are wanted."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = [pytest.mark.cpu_device, pytest.mark.driver_binaries]

# `want` builds and checks a kernel that ships: the first that the zoo's common calls want, and later ones.
PROGRAM = """
import os, sys, time
from pathlib import Path
import numpy as np
import xpu_runtime as xr

DTYPES = ("f32", "bf16", "f16", "i64")
CACHE = Path(os.environ["XPU_CACHE_DIR"])

def numbers(dtype):
    values = np.arange(4096).reshape(64, 64) % 100
    return xr.from_numpy(values.astype("i8" if dtype == "i64" else "f4"), dtype)

def fill(dtype):
    y = xr.zeros((64, 64), dtype)
    xr.kernels.fill(y.transpose(), 1)
    assert (y.numpy() == 1).all()

def copy(dtype):
    x = numbers(dtype)
    y = xr.zeros((64, 64), dtype)
    xr.kernels.copy(y, x.transpose())
    assert (y.numpy() == x.numpy().T).all()

def convert(dtype, other):
    x = numbers(dtype)
    y = xr.empty((64, 64), other)
    xr.kernels.copy(y, x)
    assert (y.numpy().astype("f8") == x.numpy().astype("f8")).all()

def select(dtype):
    x = numbers(dtype)
    y = xr.zeros((64, 64), dtype)
    xr.kernels.index_select(y, x, 0, xr.from_numpy(np.full(64, 5)))
    assert (y.numpy() == x.numpy()[5]).all()

WORKS = [(work, (dtype,)) for dtype in DTYPES for work in (fill, copy, select)]
WORKS += [(convert, (dtype, other)) for dtype in DTYPES for other in DTYPES if dtype != other]

def want(number):
    work, arguments = WORKS[number]
    work(*arguments)

def built():
    return len(list(CACHE.glob("*.bin")))

def low_priority_helpers():
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            command = (entry / "cmdline").read_bytes()
            environ = (entry / "environ").read_bytes()
        except OSError:
            continue
        if command.endswith(b"--low-priority\\0") and os.fsencode(CACHE) in environ:
            found.append(int(entry.name))
    return found

def wait_until_idle():
    last, end = -1, time.monotonic() + 60
    while built() != last and time.monotonic() < end:
        last = built()
        time.sleep(2)
    return last
"""
# Kernels that are dumped are other ones, which do not ship.
NO_IMAGES = {"XPU_READY_IMAGES": "0", "XPU_DUMP_KERNELS": ""}


@pytest.fixture
def run(child, tmp_path):
    """Return a function that runs PROGRAM and then the given code, and returns what was printed."""

    def run(code, **variables):
        env = {"XPU_CACHE_DIR": str(tmp_path / "kernels")} | NO_IMAGES | variables
        return child(PROGRAM + code, env=env).check().out

    return run


@pytest.mark.parametrize(
    ("most", "least", "bound"),
    [("256", 8, 200), ("3", 1, 8), ("0", 0, 2)],
    ids=["many", "few", "none"],
)
def test_what_follows_is_built_within_the_bound(run, most, least, bound):
    out = run("want(0); own = built(); print(own, wait_until_idle() - own)", XPU_BUILD_AHEAD=most)
    own, ahead = map(int, out.split())
    assert own >= 1
    assert least <= ahead <= bound


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
    env = {"XPU_CACHE_DIR": str(tmp_path)} | NO_IMAGES
    code = (
        PROGRAM
        + """
want(0)
print(time.time())
"""
    )
    done = child(code, env=env).check()
    assert time.time() - float(done.out) < 5


# Random work in several threads, while low-priority helpers are killed and the cache is emptied.
STORM = """
import random, signal, threading
random.seed({seed})

def work(seed):
    order = random.Random(seed)
    for number in order.sample(range(len(WORKS)), 10):
        want(number)
        time.sleep(order.random() / 20)

threads = [threading.Thread(target=work, args=({seed} * 10 + k,)) for k in range({threads})]
failed = []
threading.excepthook = lambda about: failed.append(about.exc_value)
for thread in threads:
    thread.start()
while any(thread.is_alive() for thread in threads):
    time.sleep(random.random() / 4)
    if {kill}:
        for pid in low_priority_helpers():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
    if {empty}:
        for file in CACHE.glob("*.bin"):
            file.unlink(missing_ok=True)
if failed:
    raise failed[0]
print("done")
"""


@pytest.mark.parametrize("seed", range(6))
def test_a_storm(run, seed):
    """Values are right, whatever happens to helpers and to the cache."""
    choice = random.Random(seed)
    threads, kill, empty = choice.randint(1, 3), seed % 2 == 0, seed % 3 == 0
    assert run(STORM.format(seed=seed, threads=threads, kill=kill, empty=empty)).split() == ["done"]


def test_ctrl_c_while_kernels_are_built(tmp_path):
    """Also where the program waits for one that is built ahead."""
    code = (
        PROGRAM + "\nprint('begun', flush=True)\nfor n in range(len(WORKS)): want(n)\nprint('end')"
    )
    env = os.environ | {"XPU_CACHE_DIR": str(tmp_path)} | NO_IMAGES
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


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(
            """
pid = os.fork()
if pid == 0:
    try:
        xr.zeros(4)
    except xr.DeviceError:
        os._exit(7)
    os._exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
for n in range(8): want(n)
""",
            id="fork",
        ),
        pytest.param(
            """
graph, y = xr.Graph(), xr.zeros((64, 64))
with graph.capture():
    xr.kernels.fill(y.transpose(), 7)
graph.replay()
assert (y.numpy() == 7).all()
""",
            id="graph",
        ),
        pytest.param(
            """
with xr.trace.record(str(CACHE / "trace.json")):
    for n in range(8): want(n)
""",
            id="trace",
        ),
    ],
)
def test_beside_other_features(run, code):
    run("want(0)" + code)


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


# Makes the cache read-only, for root too.
READ_ONLY = """
import ctypes
CACHE.mkdir(mode=0o700)
if os.geteuid() == 0:
    libc, folder = ctypes.CDLL(None, use_errno=True), os.fsencode(CACHE)
    NEWNS, RDONLY, REMOUNT, BIND, REC, PRIVATE = 0x20000, 1, 32, 4096, 16384, 1 << 18
    assert libc.unshare(NEWNS) == 0
    for source, target, flags in [
        (b"none", b"/", REC | PRIVATE),
        (folder, folder, BIND),
        (folder, folder, BIND | REMOUNT | RDONLY),
    ]:
        assert libc.mount(source, target, None, flags, None) == 0, ctypes.get_errno()
else:
    CACHE.chmod(0o500)
"""
# Lets no file be written, though the folder looks as if it could be.
FULL = """
import resource, signal
xr.device_count()
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (16, 16))
xr.cache.write("key", "plan", bytes(100))
"""


@pytest.mark.parametrize("unwritable", [READ_ONLY, FULL], ids=["read-only", "full"])
def test_nothing_is_built_ahead_for_a_cache_that_keeps_nothing(run, unwritable):
    code = "for n in range(3): want(n)\nwait_until_idle()\nprint(low_priority_helpers())"
    assert run(unwritable + code).split() == ["[]"]
    assert run(code).split() != ["[]"]
