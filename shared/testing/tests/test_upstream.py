"""Runs of upstream tests: what is recorded of files, and failures by reason and cause."""

from pathlib import Path

from xpu_testing.upstream import (
    Outcome,
    Reason,
    TestRun,
    count_outcomes,
    explain,
    find_stale_reasons,
    read_outcomes,
)


def run(folder, source):
    file = folder / "test_some.py"
    file.write_text(source)
    tests = TestRun(folder, folder / "record.jsonl", [], Path(__file__).parent)
    tests.run(file)
    return read_outcomes(tests.record)


def test_a_file_that_ends_the_process(tmp_path):
    found = run(tmp_path, "import os\nos._exit(9)\n")
    assert found == {"test_some.py": Outcome("failed", "ends the process with status 9")}


def test_a_file_that_cannot_be_imported(tmp_path):
    found = run(tmp_path, "import no_such_module\n")
    assert found["test_some.py"].outcome == "failed"
    assert "No module named 'no_such_module'" in found["test_some.py"].cause


def test_a_file_that_leaves_itself_out(tmp_path):
    source = "import pytest\npytest.skip('other device', allow_module_level=True)\n"
    assert run(tmp_path, source) == {"test_some.py": Outcome("skipped", "other device")}


def test_messages_of_failures(tmp_path):
    found = run(tmp_path, "import unittest\n\ndef test_one():\n    raise ValueError(7)\n")
    assert found == {"test_some.py::test_one": Outcome("failed", "ValueError: 7")}


def test_tests_that_are_recorded_do_not_run_again(tmp_path):
    source = "from pathlib import Path\n\ndef test_one():\n    Path('runs').open('a').write('x')\n"
    run(tmp_path, source)
    assert run(tmp_path, source) == {"test_some.py::test_one": Outcome("passed")}
    assert (tmp_path / "runs").read_text() == "x"


def test_failures_by_reason_and_cause():
    found = {
        "a.py::test_one": Outcome("failed", "ImportError: no package 5"),
        "a.py::test_two": Outcome("failed", "ValueError: 3 and 0x5f\nmore"),
        "b.py::test_two": Outcome("failed", "\nValueError: 4 and 0x6e"),
        "b.py::test_three": Outcome("passed"),
    }
    reasons = [Reason("of another file", "^b", "Import"), Reason("a package", cause="no package")]
    explained, groups = explain(found, reasons)
    assert explained == {"a package": ["a.py::test_one"]}
    assert groups == {"ValueError: N and N": ["a.py::test_two", "b.py::test_two"]}
    assert count_outcomes(found.values()) == "1 passed, 3 failed, 0 skipped"


def test_reasons_of_tests_that_pass():
    found = {
        "a.py::test_one": Outcome("passed"),
        "a.py::test_two": Outcome("failed", "ValueError: 3"),
        "b.py::test_one": Outcome("passed"),
    }
    reasons = [Reason("a value", test="^a"), Reason("any test", cause="Value"), Reason("none", "c")]
    assert find_stale_reasons(found, reasons) == {"a value": ["a.py::test_one"]}
