"""Run torchao's own tests on xpu: ``nox -s upstream -- ao FOLDER [--file FILE …] [ARGUMENTS OF PYTEST]``.

FOLDER is the folder ``test`` of the sources of torchao, of the version that is installed; torchao's wheel has
a part of it, beside the package. FILEs are relative to FOLDER; without them all run. Tests that choose
xpu run as they are, tests of CUDA with its names replaced. A run goes on where the last one stopped. Failures
with a known reason are counted by it; the others are listed by cause, and make the exit status 1.
"""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from collections import Counter
from pathlib import Path

from xpu_testing.upstream import (
    Outcome,
    TestRun,
    count_outcomes,
    explain,
    print_failures,
    read_outcomes,
    read_reasons,
)

REASONS = Path(__file__).with_name("reasons.toml")
# Of one test: those that compile take the longest.
TEST_SECONDS = 300
VARIABLES = {"XPU_FALLBACK": "error", "TORCHAO_FORCE_SKIP_LOADING_SO_FILES": "1"}


def find_files(folder: Path, names: list[str]) -> list[Path]:
    """Return the files of tests: the named ones, or all that do not need several devices or another one."""
    if names:
        return [folder / name for name in names]
    other = tomllib.loads(REASONS.read_text())["other_devices"]
    files = sorted(folder.rglob("test_*.py"))
    return [file for file in files if not re.search(other, file.relative_to(folder).as_posix())]


def print_counts(found: dict[str, Outcome]) -> None:
    """Print the counts of tests that choose xpu, of tests of CUDA, and of those that use no xpu."""
    used = [outcome for outcome in found.values() if outcome.properties.get("used_xpu")]
    renamed = [outcome for outcome in used if outcome.properties["renamed"]]
    print(f"choose xpu: {count_outcomes(o for o in used if o not in renamed)}")
    print(f"names replaced: {count_outcomes(renamed)}")
    print(f"did not use xpu: {count_outcomes(o for o in found.values() if o not in used)}")


def main() -> None:
    """Run the tests, and print the failures and the counts."""
    parser = argparse.ArgumentParser(prog="nox -s upstream -- ao", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--file", action="append", default=[], metavar="FILE")
    parser.add_argument("--record", type=Path, default=Path("upstream-ao.jsonl"))
    options, arguments = parser.parse_known_args()
    folder, record = options.folder.resolve(), options.record.resolve()
    files = find_files(folder, options.file)
    if missing := [str(file) for file in files if not file.exists()]:
        parser.error(f"there is no {', '.join(missing)}")
    if not files:
        parser.error(f"{folder} has no tests: give the folder `test` of torchao's sources")
    arguments = ["--import-mode=importlib", f"--test-timeout={TEST_SECONDS}", *arguments]
    tests = TestRun(folder, record, ["xpu_device"], Path(__file__).parent, arguments, VARIABLES)
    for file in files:
        tests.run(file)
    found = read_outcomes(record)
    explained, unexplained = explain(found, read_reasons(REASONS))
    skipped = Counter(o.cause for o in found.values() if o.outcome == "skipped")
    for reason, count in sorted(skipped.items(), key=lambda item: -item[1]):
        print(f"{count} skipped: {reason}")
    for reason, failed in explained.items():
        print(f"{len(failed)} failed, as is known: {reason}")
    print_failures(unexplained)
    print_counts(found)
    sys.exit(bool(unexplained))


if __name__ == "__main__":
    main()
