"""Children end within their limit, and with their parent, whatever they have started."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from xpu_testing import processes, run_child

# Leaves its session and its parent, as the runtime's build helpers do.
HELPER = """
import os, sys, time
if os.fork():
    os._exit(0)
os.setsid()
with open(sys.argv[1], "w") as file:
    file.write(str(os.getpid()))
time.sleep(600)
"""
STARTS_HELPER = """
import subprocess, sys, time
subprocess.Popen([sys.executable, *{arguments}], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print("started", flush=True)
time.sleep(600)
"""


def alive(pid):
    """Whether a process runs: a killed one may stay a zombie until its new parent asks for it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def wait_until(condition, seconds=20):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "in vain"
        time.sleep(0.02)


def test_a_child_over_its_limit_dies_with_what_it_started(tmp_path):
    note, helper = tmp_path / "pid", tmp_path / "helper.py"
    helper.write_text(HELPER)
    begin = time.monotonic()
    code = STARTS_HELPER.format(arguments=[str(helper), str(note)])
    with pytest.raises(subprocess.TimeoutExpired) as error:
        run_child(code, timeout=3)
    assert time.monotonic() - begin < 20
    wait_until(lambda: not alive(int(note.read_text())))
    assert error.value.stdout == "started\n"
    (told,) = error.value.__notes__
    assert "started" in told
    assert f"python {helper}" in told


def test_an_output_that_stays_open_does_not_hold_the_caller(tmp_path):
    """Where the child has ended, but what it started has not."""
    code = "import subprocess, sys; subprocess.Popen(['sleep', '600'])"
    begin = time.monotonic()
    with pytest.raises(subprocess.TimeoutExpired):
        run_child(code, timeout=2)
    assert time.monotonic() - begin < 20


def test_a_child_dies_with_its_parent(tmp_path):
    note = tmp_path / "pid"
    inner = f"import os, time; open({str(note)!r}, 'w').write(str(os.getpid())); time.sleep(600)"
    outer = f"from xpu_testing import run_child; run_child({inner!r}, timeout=300)"
    parent = subprocess.Popen([sys.executable, "-c", outer])
    wait_until(lambda: note.exists() and note.read_text())
    parent.kill()
    parent.wait(timeout=20)
    wait_until(lambda: not alive(int(note.read_text())))


def test_an_interrupted_caller_leaves_no_child(tmp_path):
    note = tmp_path / "pid"
    inner = f"import os, time; open({str(note)!r}, 'w').write(str(os.getpid())); time.sleep(600)"
    outer = f"from xpu_testing import run_child; run_child({inner!r}, timeout=300)"
    parent = subprocess.Popen([sys.executable, "-c", outer], stderr=subprocess.PIPE, text=True)
    wait_until(lambda: note.exists() and note.read_text())
    parent.send_signal(signal.SIGINT)
    _, err = parent.communicate(timeout=20)
    assert "KeyboardInterrupt" in err
    wait_until(lambda: not alive(int(note.read_text())))


def test_terminating_gives_time_to_report(tmp_path):
    code = "import signal, sys, time; signal.signal(15, lambda *_: sys.exit(print('report')))"
    code += "; print('ready', flush=True); time.sleep(600)"
    tree = processes.ProcessTree([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert tree.process.stdout.readline() == "ready\n"
    tree.terminate(grace=20)
    assert tree.process.stdout.read() == "report\n"
    tree.process.stdout.close()


def test_a_tree_is_not_its_caller():
    tree = processes.ProcessTree(["sleep", "600"])
    assert tree.members() == [tree.process.pid]
    assert os.getpid() not in tree.members()
    assert "sleep 600" in processes.describe(tree.members())
    tree.kill()
    assert tree.process.wait(timeout=20) == -signal.SIGKILL
    assert tree.members() == []
