"""Run PyTorch's tests of distributed on xpu: ``nox -s upstream -- distributed [ARGUMENTS OF PYTEST]``.

The tests are those of the installed wheel, ``torch.testing._internal.distributed.distributed_test``.
They run with each backend (``--backend``) as two ranks, those that need more as four; each rank has its part
of the CPU device. A run goes on where the last one stopped. Failures and skipped tests are counted by reason.
A failure without one is an error, and so is a test that passes though the file of reasons says it cannot.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections import Counter
from pathlib import Path

from xpu_testing.upstream import (
    Outcome,
    TestRun,
    count_outcomes,
    explain,
    find_stale_reasons,
    print_failures,
    read_outcomes,
    read_reasons,
)

FOLDER = Path(__file__).parent
FILE = FOLDER / "test_distributed.py"
REASONS = FOLDER / "reasons.toml"
BACKENDS = ("gloo", "xccl")
RANKS, MORE_RANKS = 2, 4
NEEDS_RANKS = r"world ?size|Need at least [34] "
# Of one test; ten seconds later pytest ends it.
TEST_SECONDS = 180
ARGUMENTS = ["-c", os.devnull, f"--test-timeout={TEST_SECONDS + 10}", "-vv"]


def run(backend: str, ranks: int, record: Path, arguments: list[str]) -> dict[str, Outcome]:
    """Return the outcomes, by the backend and the name of the test."""
    variables = {
        "BACKEND": backend,
        "WORLD_SIZE": str(ranks),
        "XPU_CPU_DEVICES": str(ranks),
        "XPU_FALLBACK": "error",
        "GLOO_SOCKET_IFNAME": "lo",
        "OMP_NUM_THREADS": "1",
        "DISTRIBUTED_TESTS_DEFAULT_TIMEOUT": str(TEST_SECONDS),
    }
    TestRun(FOLDER, record, [], FOLDER, [*ARGUMENTS, *arguments], variables).run(FILE)
    found = read_outcomes(record)
    return {f"{backend} {test.split('::')[-1]}": outcome for test, outcome in found.items()}


def run_backend(backend: str, record: str, arguments: list[str]) -> dict[str, Outcome]:
    """Return the outcomes with two ranks, and with four of those that need more."""
    found = run(backend, RANKS, Path(f"{record}-{backend}-{RANKS}.jsonl"), arguments)
    more = [
        test.split()[-1]
        for test, outcome in found.items()
        if outcome.outcome == "skipped" and re.search(NEEDS_RANKS, outcome.cause)
    ]
    if more:
        chosen = [*arguments, "-k", " or ".join(more)]
        found |= run(backend, MORE_RANKS, Path(f"{record}-{backend}-{MORE_RANKS}.jsonl"), chosen)
    return found


def main() -> None:
    """Run the tests, and print the failures and the counts."""
    parser = argparse.ArgumentParser(prog="nox -s upstream -- distributed", description=__doc__)
    parser.add_argument("--backend", action="append", choices=BACKENDS)
    parser.add_argument("--record", type=Path, default=Path("upstream-distributed"))
    parser.add_argument("--reasons", type=Path, default=REASONS)
    options, arguments = parser.parse_known_args()
    backends = options.backend or BACKENDS
    found: dict[str, Outcome] = {}
    for backend in backends:
        found |= run_backend(backend, str(options.record.resolve()), arguments)
    reasons = read_reasons(options.reasons)
    explained, unexplained = explain(found, reasons)
    stale = find_stale_reasons(found, reasons)
    skipped = Counter(o.cause for o in found.values() if o.outcome == "skipped")
    for reason, count in sorted(skipped.items(), key=lambda item: -item[1]):
        print(f"{count} skipped: {reason}")
    for reason, failed in explained.items():
        print(f"{len(failed)} failed, as is known: {reason}")
    print_failures(unexplained)
    for reason, passed in stale.items():
        print(f"passed, against a reason ({reason}): {', '.join(passed)}")
    for backend in backends:
        of_backend = [outcome for test, outcome in found.items() if test.startswith(backend)]
        used = [outcome for outcome in of_backend if outcome.properties.get("used_xpu")]
        print(f"{backend}: {count_outcomes(of_backend)}; on xpu: {count_outcomes(used)}")
    sys.exit(bool(unexplained or stale))


if __name__ == "__main__":
    main()
