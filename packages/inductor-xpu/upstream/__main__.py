"""Run PyTorch's own tests of Inductor on xpu: ``nox -s upstream -- inductor FOLDER [ARGUMENTS OF PYTEST]``.

FOLDER is the folder ``test`` of the sources of PyTorch, of the version that is installed. A run goes on where
the last one stopped; a test that ends the process, or is not done in time, is recorded as such. The failures
are listed by cause.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from xpu_testing.upstream import TestRun, count_outcomes, explain, print_failures, read_outcomes

FILE = Path("inductor") / "test_torchinductor.py"


def main() -> None:
    """Run the tests and print the failures by cause."""
    parser = argparse.ArgumentParser(prog="nox -s upstream -- inductor", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--record", type=Path, default=Path("upstream-inductor.jsonl"))
    options, arguments = parser.parse_known_args()
    folder, record = options.folder.resolve(), options.record.resolve()
    if not (folder / FILE).exists():
        parser.error(f"{folder} has no {FILE}: give the folder `test` of PyTorch's sources")
    TestRun(folder, record, ["xpu_device"], Path(__file__).parent, arguments).run(folder / FILE)
    found = read_outcomes(record)
    _, groups = explain(found, [])
    print_failures(groups)
    print(count_outcomes(found.values()))


if __name__ == "__main__":
    main()
