"""Run Triton's own tests of its language on xpu: ``nox -s upstream -- triton FOLDER [ARGUMENTS OF PYTEST]``.

FOLDER is the folder ``python/test`` of the sources of Triton, of the version that is installed. A run goes on
where the last one stopped; a test that ends the process, or is not done in time, is recorded as such. The
failures are listed by cause. ``--files`` names the files, by a pattern below FOLDER.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from xpu_testing.upstream import TestRun, count_outcomes, explain, print_failures, read_outcomes

FILES = "unit/language/test_*.py"


def main() -> None:
    """Run the tests and print the failures by cause."""
    parser = argparse.ArgumentParser(prog="nox -s upstream -- triton", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--files", default=FILES)
    parser.add_argument("--record", type=Path, default=Path("upstream-triton.jsonl"))
    options, arguments = parser.parse_known_args()
    folder, record = options.folder.resolve(), options.record.resolve()
    files = sorted(folder.glob(options.files))
    if not files:
        parser.error(
            f"{folder} has no {options.files}: give the folder `python/test` of Triton's sources"
        )
    command = ["--device", "xpu", *arguments]
    run = TestRun(folder, record, ["xpu_triton"], Path(__file__).parent, command)
    for file in files:
        run.run(file)
    found = read_outcomes(record)
    _, groups = explain(found, [])
    print_failures(groups)
    print(count_outcomes(found.values()))


if __name__ == "__main__":
    main()
