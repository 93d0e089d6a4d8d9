"""Run PyTorch's own tests of Inductor on xpu: ``nox -s upstream -- FOLDER [ARGUMENTS OF PYTEST]``.

FOLDER is the folder ``test`` of the sources of PyTorch, of the version that is installed. A run goes on where
the last one stopped; a test that ends the process, or is not done in time, is recorded as such. The failures
are listed by cause.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

from xpu_device import RECORD, STARTED

FILE = Path("inductor") / "test_torchinductor.py"
# Of one process, which runs many tests; the next goes on behind the test that took it.
SECONDS = 1800


def outcomes(record: Path) -> dict[str, tuple[str, str]]:
    """Return the last outcome of each test, and its cause."""
    lines = record.read_text().splitlines() if record.exists() else []
    return {test: (outcome, cause) for test, outcome, cause in map(json.loads, lines)}


def run(folder: Path, record: Path, arguments: list[str]) -> None:
    """Run the tests that the record does not have, in as many processes as it takes."""
    environment = os.environ | {
        RECORD: str(record),
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), str(folder)]),
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "xpu_device", "-p", "no:cacheprovider"]
    while True:
        before = len(outcomes(record))
        try:
            status = subprocess.run(
                [*command, *arguments, str(folder / FILE)],
                env=environment,
                cwd=folder,
                timeout=SECONDS,
                check=False,
            ).returncode
            reason = f"ends the process with status {status}"
        except subprocess.TimeoutExpired:
            reason = f"is not done after {SECONDS} s of its process"
        running = [test for test, (outcome, _) in outcomes(record).items() if outcome == STARTED]
        if not running or len(outcomes(record)) == before:
            return
        with record.open("a") as file:
            file.writelines(json.dumps([test, "failed", reason]) + "\n" for test in running)


def causes(found: dict[str, tuple[str, str]]) -> dict[str, list[str]]:
    """Return the failed tests by cause: the first line of the message, without numbers and addresses."""
    groups = defaultdict(list)
    for test, (outcome, cause) in found.items():
        if outcome == "failed":
            first = next((line for line in cause.splitlines() if line.strip()), "no message")
            groups[re.sub(r"0x[0-9a-f]+|\d+", "N", first)[:160]].append(test.split("::")[-1])
    return dict(sorted(groups.items(), key=lambda group: -len(group[1])))


def main() -> None:
    """Run the tests and print the failures by cause."""
    parser = argparse.ArgumentParser(prog="nox -s upstream --", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--record", type=Path, default=Path("upstream.jsonl"))
    options, arguments = parser.parse_known_args()
    folder, record = options.folder.resolve(), options.record.resolve()
    if not (folder / FILE).exists():
        parser.error(f"{folder} has no {FILE}: give the folder `test` of PyTorch's sources")
    run(folder, record, arguments)
    found = outcomes(record)
    for cause, tests in causes(found).items():
        print(f"{len(tests)}  {cause}\n    {', '.join(sorted(tests))}")
    count = {
        word: sum(o == word for o, _ in found.values()) for word in ("passed", "failed", "skipped")
    }
    print(", ".join(f"{number} {word}" for word, number in count.items()))


if __name__ == "__main__":
    main()
