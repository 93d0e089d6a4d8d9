"""What a fuzzer's command line must do with each end that a case can have."""

import json
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from test_processes import wait_until
from xpu_testing import fuzzing

FUZZER = """
import os, time
from xpu_testing import fuzzing

class Case:
    def __init__(self, random):
        self.kind = random.choice(["right", "refused", "dies", "hangs", "differs", "stranger"])
        self.subject = self.kind

    def __str__(self):
        return f"program {self.kind}"

    def run(self):
        if self.kind == "dies":
            os.abort()
        if self.kind == "hangs":
            time.sleep(60)
        if self.kind == "differs":
            raise fuzzing.Difference("1 is not 2")
        if self.kind == "stranger":
            raise ZeroDivisionError
        return fuzzing.REFUSED if self.kind == "refused" else fuzzing.PASSED

fuzzing.main(Case)
"""


def fuzz(folder, *options):
    (folder / "__main__.py").write_text(FUZZER)
    command = [sys.executable, str(folder), "--limit", "2", "--log", str(folder / "log"), *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    results = map(json.loads, (folder / "log").read_text().splitlines())
    return done, {result["case"]: result for result in results}


@pytest.fixture(scope="module")
def whole_run(tmp_path_factory):
    return fuzz(tmp_path_factory.mktemp("whole"), "--cases", "24", "--batch", "8")


def test_every_case_has_an_end(whole_run):
    done, results = whole_run
    assert sorted(results) == list(range(24)), done.stderr
    differences = {result["subject"]: result["difference"] for result in results.values()}
    ends = {result["subject"]: result["end"] for result in results.values()}
    assert ends["right"] == "passed"
    assert ends["refused"] == "refused"
    assert "ended the process with -6" in differences["dies"]
    assert "hangs" in differences["hangs"]
    assert differences["differs"] == "1 is not 2"
    assert "ZeroDivisionError" in differences["stranger"]


def test_the_last_line_counts(whole_run):
    done, results = whole_run
    failed = sum(result["end"] == "failed" for result in results.values())
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1] == f"{24 - failed} passed, {failed} failed"


def test_a_case_is_made_of_its_seed_and_number(whole_run, tmp_path):
    _, results = whole_run
    (chosen,) = [n for n, result in results.items() if result["subject"] == "differs"][:1]
    done, again = fuzz(tmp_path, "--case", str(chosen))
    assert again == {chosen: results[chosen]}
    assert f"--seed 0 --case {chosen}: failed\n    program differs\n    1 is not 2" in done.stdout


def test_a_known_difference_passes_where_its_whole_entry_fits(tmp_path):
    entry = (
        '[[known]]\nreason = "r"\nsubject = "diff.*"\ndtype = "program"\ndifference = "is not"\n'
    )
    other = '[[known]]\nreason = "r"\nsubject = "dies"\ndtype = "program"\ndifference = "ended"\n'
    (tmp_path / "known.toml").write_text(entry + other)
    done, results = fuzz(tmp_path, "--cases", "24")
    differing = sum(result["subject"] == "differs" for result in results.values())
    assert f"{differing} differ for a known reason" in done.stdout
    assert "\ndies: " in done.stdout
    assert "\ndiffers: " not in done.stdout


KNOWN = fuzzing.Known("r", "relu", "f32", "(nan|0.0), expected", program="special")
CASE = {"subject": "relu", "program": "relu of f32, special"}


@pytest.mark.parametrize(
    ("changed", "elements", "is_known"),
    [
        ({}, ["0.0, expected 1.0"], True),
        ({}, ["0.0, expected 1.0", "2.0, expected 1.0"], False),
        ({}, ["0.0, expected nan"], False),
        ({"subject": "relu6"}, ["0.0, expected 1.0"], False),
        ({"program": "relu of f16, special"}, ["0.0, expected 1.0"], False),
        ({"program": "relu of f32"}, ["0.0, expected 1.0"], False),
    ],
)
def test_a_known_difference_fits_in_operator_dtype_condition_and_each_element(
    changed, elements, is_known
):
    assert KNOWN.explains(CASE | changed, elements) is is_known


def test_a_known_difference_of_a_lost_nan_names_the_operand():
    known = fuzzing.Known("r", "relu", "f32", "0.0, expected nan, of inf$")
    assert known.explains(CASE, ["0.0, expected nan, of inf"])
    assert not known.explains(CASE, ["0.0, expected nan, of 1.0"])


def test_a_known_difference_without_a_dtype_is_refused():
    with pytest.raises(ValueError, match="relu"):
        fuzzing.Known("r", "relu", "", "0.0")


FAULTY = """
import numpy as np
from xpu_testing import fuzzing

class Case:
    subject = "sum"

    def __init__(self, random):
        self.values = np.array([random.random() for _ in range(16)], np.float32)

    def __str__(self):
        return "f32"

    def run(self):
        def judge(results):
            if JUDGES and not np.array_equal(results[0], self.values):
                raise fuzzing.Difference("other numbers")

        fuzzing.check([self.values], judge)
        return fuzzing.PASSED

fuzzing.main(Case)
"""


@pytest.mark.parametrize("judges", [True, False])
def test_faults_in_results_are_counted(tmp_path, judges):
    (tmp_path / "__main__.py").write_text(FAULTY.replace("JUDGES", str(judges)))
    command = [sys.executable, str(tmp_path), "--cases", "5", "--mutate", "all", "--dtype", "f32"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    noticed = 5 if judges else 0
    for kind in ("element", "tail", "zeros"):
        assert f"{kind} f32: {noticed} of 5 noticed" in done.stdout
    assert "nan f32" not in done.stdout
    assert done.returncode == (0 if judges else 1)


SLOW = """
import time
from xpu_testing import fuzzing

class Case:
    def __init__(self, random):
        self.seconds = random.choice([0.05, 0.3])
        self.subject = "wrong" if self.seconds > 0.1 else "right"

    def __str__(self):
        return f"program of {self.seconds} s"

    def run(self):
        time.sleep(self.seconds)
        if self.subject == "wrong":
            raise fuzzing.Difference("1 is not 2")
        return fuzzing.PASSED

fuzzing.main(Case)
"""


@pytest.fixture
def slow(tmp_path):
    (tmp_path / "__main__.py").write_text(SLOW)
    command = [sys.executable, str(tmp_path), "--cases", "2000", "--jobs", "2", "--interval", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        yield process
        process.kill()


def processes_of(folder):
    """The command lines that name a folder."""
    commands = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            commands.append(file.read_bytes().decode())
        except OSError:  # it has ended
            continue
    return [command for command in commands if str(folder) in command]


PROGRESS = re.compile(
    r"\d+:\d\d  (\d+) of 2000 cases, [\d.]+ a second, [\d:]+ left, \d+ failed; "
    r"running: (nothing|\d+ (right|wrong) \(\d+ s\))"
)


def test_results_are_printed_as_they_come(slow):
    lines = []
    while not any(PROGRESS.match(line) for line in lines[-1:]):
        lines.append(slow.stdout.readline())
        assert lines[-1], lines
    failed = next(n for n, line in enumerate(lines) if line.startswith("FAILED --seed 0 --case "))
    assert lines[failed].endswith(", wrong\n")
    assert lines[failed + 1 : failed + 3] == ["    program of 0.3 s\n", "    1 is not 2\n"]
    assert slow.poll() is None


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_stopped_reports(slow, tmp_path, number):
    slow.stdout.readline()
    time.sleep(random.uniform(0, 3))
    slow.send_signal(number)
    out = slow.stdout.read()
    assert slow.wait(timeout=20) == 128 + number
    *_, counted, stopped, last = out.splitlines()
    done = int(re.search(r"seed 0: (\d+) cases in", counted)[1])
    told = rf"stopped by {number.name}: {2000 - done} of 2000 cases not done; "
    told += r"running: (nothing|\d+ (right|wrong) \(\d+ s\))"
    assert re.match(told, stopped)
    assert sum(int(count) for count in re.findall(r"\d+", last)) == done
    wait_until(lambda: not processes_of(tmp_path))


def test_a_run_that_is_killed_has_said_where_it_was(slow, tmp_path):
    time.sleep(random.uniform(2.5, 5))
    slow.kill()
    out = slow.stdout.read()
    told = [PROGRESS.match(line) for line in out.splitlines()]
    assert int([line for line in told if line][-1][1]) > 0
    wait_until(lambda: not processes_of(tmp_path))
