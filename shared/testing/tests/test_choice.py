"""The tests of a sample or a budget: the commit chooses them, evenly over the files, and the run says so."""

import os
import re
import sys

import pytest
from xpu_testing import processes
from xpu_testing.budget import Budget
from xpu_testing.choice import choose_sample


class Named:
    def __init__(self, nodeid):
        self.nodeid = nodeid


def test_a_sample_does_not_change_with_new_tests():
    items = [Named(f"test_{n}.py::test[{n}]") for n in range(400)]
    quarter = choose_sample(items, 4, "commit")
    assert 60 < len(quarter) < 140
    assert choose_sample(items[1:], 4, "commit") == quarter - {items[0]}
    assert choose_sample(items, 1, "commit") == set(items)
    assert len(choose_sample(items[:3], 1000, "commit")) == 1
    assert choose_sample([], 4, "commit") == set()


@pytest.fixture
def repository(tmp_path):
    """A function that commits at a time, and returns the commit."""
    (tmp_path / "test_it.py").write_text(
        "import pytest\n@pytest.mark.parametrize('n', range(99))\ndef test(n): pass\n"
    )

    def git(*arguments, **variables):
        command = ["git", "-c", "user.name=Name", "-c", "user.email=name@example.org", *arguments]
        done = processes.run(command, 60, env=os.environ | variables, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return done.stdout

    git("init")

    def commit(date):
        git("commit", "--allow-empty", "-m", date, GIT_COMMITTER_DATE=date, GIT_AUTHOR_DATE=date)
        return git("rev-parse", "HEAD").strip()

    return commit


def test_the_commit_chooses_and_not_its_date(repository, tmp_path):
    """Commits of one day and of two choose other tests each, and the same ones for the same hash."""

    def chosen(*options):
        command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
        command += ["--sample=2", "--budget=100", *options]
        out = processes.run(command, 60, cwd=tmp_path).stdout
        first = re.match(r"tests chosen by --choice=(\w+): (\d+), (\d+) left out\n", out)
        choice, run, left_out = first.groups()
        tests = re.findall("^test_it.*", out, re.MULTILINE)
        assert len(tests) == int(run) == 99 - int(left_out)
        return choice, tests

    found = {}
    for date in ("2024-01-01T10:00:00Z", "2024-01-01T11:00:00Z", "2024-01-02T10:00:00Z"):
        commit = repository(date)
        choice, found[commit] = chosen()
        assert commit.startswith(choice)
    assert len(set(map(tuple, found.values()))) == 3
    for commit, tests in found.items():
        assert chosen(f"--choice={commit[:12]}") == (commit[:12], tests)


SLOW_SUITE = """
import time
import pytest

@pytest.mark.parametrize("n", range(100))
def test_of_{name}(n):
    time.sleep(0.05)
"""


def test_a_budget_takes_a_part_of_every_file_at_a_time():
    items = [Named(f"test_{file}.py::test[{n}]") for file in ("first", "last") for n in range(400)]
    Budget(60, "commit").pytest_collection_modifyitems(items)
    assert 60 < sum("first" in item.nodeid for item in items[:200]) < 140


@pytest.mark.parametrize(("seconds", "fits"), [(2, False), (60, True)])
def test_a_budget_leaves_out_and_counts_what_does_not_fit(tmp_path, seconds, fits):
    for name in ("first", "last"):
        (tmp_path / f"test_{name}.py").write_text(SLOW_SUITE.format(name=name))
    command = [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", str(tmp_path)]
    done = processes.run([*command, "--budget", str(seconds)], 120)
    assert done.returncode == 0
    ran = [done.stdout.count(f"test_of_{name}") for name in ("first", "last")]
    left_out = int((re.search(r"(\d+) tests left out", done.stdout) or [0, 0])[1])
    assert sum(ran) + left_out == 200
    assert (left_out == 0) is fits
    assert min(ran) > 0
