"""What a fuzzer's command line must do with each end that a case can have."""

import json
import subprocess
import sys

import pytest

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
    entry = '[[known]]\nreason = "r"\nsubject = "diff.*"\ndifference = "is not"\n'
    other = '[[known]]\nreason = "r"\nsubject = "die"\n'
    (tmp_path / "known.toml").write_text(entry + other)
    done, results = fuzz(tmp_path, "--cases", "24")
    differing = sum(result["subject"] == "differs" for result in results.values())
    assert f"{differing} differ for a known reason" in done.stdout
    assert "\ndies: " in done.stdout
    assert "\ndiffers: " not in done.stdout
