"""The parts of CI: shown as they run, ended within their limit, reported when the run is stopped."""

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from test_processes import alive, wait_until
from xpu_testing.processes import ProcessTree

SCRIPT = Path(__file__).parents[3] / ".ci" / "parts.py"


@pytest.fixture
def start(tmp_path):
    """Starts a run of parts, each a Python program."""
    trees = []

    def run(*stages, **options):
        lines = []
        for stage in stages:
            for name, code in stage.items():
                (tmp_path / f"{name}.py").write_text(code)
                lines.append(f"{sys.executable} {tmp_path / name}.py")
            lines.append("")
        command = [sys.executable, str(SCRIPT), "--logs", str(tmp_path / "logs")]
        command += [f"--{name}={value}" for name, value in options.items()]
        tree = ProcessTree(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        trees.append(tree)
        tree.process.stdin.write("\n".join(lines))
        tree.process.stdin.close()
        tree.process.stdin = None  # so that communicate() does not flush it
        return tree.process

    yield run
    for tree in trees:
        tree.kill()


def state(out, name):
    """How a part ended, by the table at the end."""
    return re.search(rf"/{name}\.py +\d+ s  (.*)", out.partition("=== time of each part")[2])[1]


COUNTS = "import time\nfor n in range(600): print(n, end=' ', flush=True); time.sleep(0.1)"


def test_each_output_is_printed_whole_when_its_part_ends(start):
    parts = {f"part{n}": f"for k in range(300): print({n}, k)" for n in range(3)}
    out, err = start(parts, jobs=2).communicate(timeout=60)
    assert not err
    for n in range(3):
        assert "\n".join(f"{n} {k}" for k in range(300)) in out
        assert state(out, f"part{n}") == "passed"


def test_a_failure_is_shown_and_the_others_go_on(start):
    failing = {"wrong": "print('1 failed'); raise SystemExit(3)", "right": "print('5 passed')"}
    process = start({"first": ""}, failing, {"last": "print('ran')"})
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 1
    assert [state(out, name) for name in ("wrong", "right", "last")] == [
        "FAILED",
        "passed",
        "passed",
    ]
    assert "\n1 failed\n" in out
    assert "\n5 passed\n" in out


def test_the_reasons_of_failures_are_at_the_end(start):
    lines = [*map(str, range(300)), "FAILED test_a.py::test_b - ValueError", *map(str, range(300))]
    named = {"wrong": f"print(*{lines}, sep='\\n'); raise SystemExit(1)"}
    unnamed = {"silent": "print('x' * 50); raise SystemExit(1)"}
    out, _ = start({"first": ""}, named, unnamed, {"last": "print(*range(999))"}).communicate(
        timeout=60
    )
    reasons = out.partition("=== FAILED: ")[2].partition("=== time of each part")[0]
    assert "\nFAILED test_a.py::test_b - ValueError\n" in reasons
    assert "x" * 50 in reasons
    assert len(reasons.splitlines()) < 10


def test_nothing_runs_without_the_first_stage(start):
    process = start({"first": "raise SystemExit(1)"}, {"second": "print('ran')"})
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 1
    assert state(out, "second") == "not run"
    assert "\nran" not in out


def test_last_lines_are_shown_while_parts_run(start):
    parts = {
        "a": "import time\nprint('one')\nprint('at two', flush=True)\ntime.sleep(3)",
        "b": COUNTS,
    }
    process = start(parts, jobs=2, interval=1)
    line = ""
    while not line.startswith("--- "):
        line = process.stdout.readline()
    assert line.endswith("0 of 2 parts done; running:\n")
    assert re.match(r"    0:\d\d  .*/a.py: at two\n", process.stdout.readline())
    assert re.match(r"    0:\d\d  .*/b.py: 0 1 .*\d+\n", process.stdout.readline())
    process.terminate()
    process.communicate(timeout=60)


def test_a_part_over_its_limit_dies_with_its_children(start, tmp_path):
    code = "import subprocess\nchild = subprocess.Popen(['sleep', '600'], start_new_session=True)\n"
    code += f"open({str(tmp_path / 'pid')!r}, 'w').write(str(child.pid))\nchild.wait()"
    process = start({"hangs": code, "right": ""}, timeout=2)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 1
    assert [state(out, name) for name in ("hangs", "right")] == ["TIMED OUT", "passed"]
    assert re.search(r"takes longer than its limit of 2 s; running were:\n.*\n.*sleep 600", out)
    assert not alive(int((tmp_path / "pid").read_text()))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_stopped_reports(start, tmp_path, number):
    note = f"import os\nopen({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\n"
    process = start({"done": "print('5 passed')"}, {"counts": note + COUNTS}, {"never": ""})
    wait_until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text())
    time.sleep(random.uniform(0.2, 2))
    process.send_signal(number)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert [state(out, name) for name in ("done", "counts", "never")] == [
        "passed",
        "stopped",
        "not run",
    ]
    stopped = out.partition(f"=== stopped by {number.name} after 0:0")[2]
    assert re.search(r"/counts.py, for 0:0\d, whole in .*:\n0 1 ", stopped)
    assert not alive(int((tmp_path / "pid").read_text()))


def test_a_run_that_is_killed_leaves_its_logs_and_no_part(start, tmp_path):
    note = f"import os\nopen({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\n"
    process = start({"counts": note + COUNTS})
    wait_until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text())
    time.sleep(1)
    process.kill()
    process.communicate(timeout=60)
    wait_until(lambda: not alive(int((tmp_path / "pid").read_text())))
    (log,) = (tmp_path / "logs").iterdir()
    assert log.read_text().startswith("0 1 ")


FAKE_PYTHON = """#!/bin/sh
case "$1 $2 $4" in
  "-m pip "*) ;;
  "-m nox wheels") echo "built" ;;
  "-m nox "*) echo "began $4"; touch "$FAKE_BEGAN/$$"; sleep 600 ;;
  *) exec {python} "$@" ;;
esac
"""


def test_ci_itself_says_what_it_did_when_it_is_killed(tmp_path):
    """The script of CI, with an interpreter that only pretends to run nox."""
    root = SCRIPT.parents[1]
    for folder in (".ci", "shared/testing/src/xpu_testing"):
        shutil.copytree(root / folder, tmp_path / folder)
    tools, began = tmp_path / "bin", tmp_path / "began"
    for folder in (tools, began):
        folder.mkdir()
    for name, text in {
        "python3": FAKE_PYTHON.format(python=sys.executable),
        "dpkg": "#!/bin/sh\n",
    }.items():
        (tools / name).write_text(text)
        (tools / name).chmod(0o700)
    variables = {"PATH": f"{tools}:{os.environ['PATH']}", "FAKE_BEGAN": str(began)}
    tree = ProcessTree(
        ["bash", ".ci/run"],
        env=os.environ | variables,
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        wait_until(lambda: len(list(began.iterdir())) == 2)
        time.sleep(random.uniform(0, 1))
        tree.process.terminate()
        out, _ = tree.process.communicate(timeout=60)
    finally:
        tree.kill()
    assert tree.process.returncode == 128 + signal.SIGTERM
    assert not tree.members()
    assert "=== python3 -m nox -s wheels -- --release\nbuilt\n" in out
    _, _, report = out.partition("=== stopped by SIGTERM after 0:0")
    assert report.count("\nbegan tests\n") == 2
    states = re.findall(r"^python3 -m nox -s (\S+).* s  (\w.*)$", report, re.MULTILINE)
    assert states[:3] == [("wheels", "passed"), ("tests", "stopped"), ("tests", "stopped")]
    assert {state for _, state in states[3:]} == {"not run"}
    script = (root / ".ci" / "run").read_text()
    assert len(states) == script.count("\npython3 -m nox -s ")
