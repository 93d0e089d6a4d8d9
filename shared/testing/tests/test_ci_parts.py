"""The parts of CI: shown when they end, ended within their limit, reported when the run is stopped."""

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from test_processes import HELPER, alive, wait_until
from xpu_testing.processes import ProcessTree

ROOT = Path(__file__).parents[3]
COUNTS = "import time\nfor n in range(600): print(n, end=' ', flush=True); time.sleep(0.1)"


@pytest.fixture
def start(tmp_path):
    """A function that starts CI's scripts, copied to `tmp_path`, and returns the process."""
    for folder in (".ci", "shared/testing/src/xpu_testing"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    trees = []

    def run(command, text="", **env):
        pipes = {"stdout": subprocess.PIPE, "stdin": subprocess.PIPE, "text": True}
        trees.append(ProcessTree(command, env=os.environ | env, cwd=tmp_path, **pipes))
        process = trees[-1].process
        process.stdin.write(text)
        process.stdin.close()
        process.stdin = None  # so that communicate() does not flush it
        return process

    yield run
    for tree in trees:
        tree.kill()


@pytest.fixture
def start_parts(start, tmp_path):
    """A function that starts stages of parts, each a Python program with a name."""

    def run(*stages, **options):
        for name, code in (part for stage in stages for part in stage.items()):
            (tmp_path / f"{name}.py").write_text(code)
        blocks = ["\n".join(f"{sys.executable} {name}.py" for name in stage) for stage in stages]
        arguments = [f"--{name}={value}" for name, value in options.items()]
        return start([sys.executable, ".ci/parts.py", *arguments], "\n\n".join(blocks))

    return run


def states(out):
    """How each part ended, by the table at the end."""
    return [
        line.split(" s  ")[0].rpartition(" ")[0].strip()
        for line in out.rpartition("===\n")[2].splitlines()
    ]


def test_outputs_are_printed_whole_and_the_reasons_of_failures_at_the_end(start_parts):
    lines = [*range(300), "FAILED test_a.py::test_b - ValueError", *range(300)]
    stages = [
        {"right": "print(*range(300), sep='\\n')"},
        {"named": f"print(*{lines}, sep='\\n'); exit(1)", "silent": "print('x' * 50); exit(1)"},
        {"last": "print('ran')"},
    ]
    process = start_parts(*stages)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 1
    assert states(out) == ["passed", "FAILED", "FAILED", "passed"]
    numbers = "\n".join(map(str, range(300)))
    assert out.count(numbers) == 3
    reasons = out.partition("\nran\n")[2]
    assert "\nFAILED test_a.py::test_b - ValueError\n" in reasons
    assert "\n" + "x" * 50 + "\n" in reasons
    assert len(reasons.splitlines()) < 12


def test_nothing_runs_without_the_first_stage(start_parts):
    process = start_parts({"first": "exit(1)"}, {"second": "print('ran')"})
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 1
    assert states(out) == ["FAILED", "not run"]
    assert "\nran" not in out


def test_two_run_at_a_time_and_their_last_lines_are_shown(start_parts):
    process = start_parts({"a": COUNTS, "b": "print('one')\n" + COUNTS, "c": ""}, interval=1)
    first, second = process.stdout.readline(), process.stdout.readline()
    assert re.fullmatch(r"--- running +\d s  .* a.py: 0 1 .*\n", first)
    assert re.fullmatch(r"--- running +\d s  .* b.py: 0 1 .*\n", second)
    process.terminate()
    assert states(process.communicate(timeout=60)[0]) == ["stopped", "stopped", "not run"]


def test_a_part_over_its_limit_dies_with_what_it_started(start_parts, tmp_path):
    """Also a process that has left its session and its parent."""
    (tmp_path / "helper.py").write_text(HELPER)
    code = f"import os, time\nos.system('{sys.executable} helper.py pid')\ntime.sleep(600)"
    process = start_parts({"hangs": code, "right": ""}, timeout=3)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 1
    assert states(out) == ["TIMED OUT", "passed"]
    assert re.search(r"TIMED OUT; running were:\n(.*\n)+.*helper.py", out)
    assert not alive(int((tmp_path / "pid").read_text()))


def test_a_run_that_is_killed_leaves_its_logs_and_no_part(start_parts, tmp_path):
    process = start_parts(
        {"counts": f"import os\nopen('pid', 'w').write(str(os.getpid()))\n{COUNTS}"}
    )
    wait_until(lambda: any((tmp_path / ".nox").rglob("*.log")) and (tmp_path / "pid").exists())
    process.kill()
    process.communicate(timeout=60)
    wait_until(lambda: not alive(int((tmp_path / "pid").read_text())))


FAKE_PYTHON = """#!/bin/sh
case "$1 $2 $4" in
  "-m pip "*) ;;
  "-m nox release") echo "built" ;;
  "-m nox "*) echo "began $4"; touch "$FAKE_BEGAN/$$"; sleep 600 ;;
  *) exec {python} "$@" ;;
esac
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ci_itself_says_what_it_did_when_it_is_stopped(start, tmp_path, number):
    """The script of CI, with an interpreter that only pretends to run nox."""
    tools, began = tmp_path / "bin", tmp_path / "began"
    for folder in (tools, began):
        folder.mkdir()
    for name, text in (
        ("python3", FAKE_PYTHON.format(python=sys.executable)),
        ("dpkg", "#!/bin/sh\n"),
    ):
        (tools / name).write_text(text)
        (tools / name).chmod(0o700)
    process = start(
        ["bash", ".ci/run"], PATH=f"{tools}:{os.environ['PATH']}", FAKE_BEGAN=str(began)
    )
    wait_until(lambda: len(list(began.iterdir())) == 2)
    process.send_signal(number)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert not any(alive(int(pid.name)) for pid in began.iterdir())
    assert "=== python3 -m nox -s release -- --own\nbuilt\n" in out
    report = out.partition(f"=== stopped by {number.name}\n")[2]
    assert report.count("\nbegan tests\n") == 2
    count = (ROOT / ".ci" / "run").read_text().count("\npython3 -m nox -s ")
    assert states(report) == ["passed", "stopped", "stopped", *["not run"] * (count - 3)]
