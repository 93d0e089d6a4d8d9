"""PyTorch's operators compiled on xpu, compared with eager ones: forward and backward.

    python compiled_operators.py [NAME...] [--record FILE] [--resume] [--part K/N] [--dtype bfloat16]

A line an operator: "pass", "not applicable" (it fails without compilation, or Dynamo does not trace it),
or what went wrong. Cases run in child processes, so that one that takes too long or ends the process costs
only itself. FILE has the results of all cases that ran so far; several runs may write into it.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import select
import subprocess
import sys
import time
import traceback
import warnings
from fnmatch import fnmatch
from pathlib import Path

SECONDS = 90
# A child ends after so many cases: what compilation keeps in memory is never freed.
CASES_OF_CHILD = 60


class Child:
    """A process that runs cases: a name a line in, a result a line out."""

    def __init__(self, arguments: list[str]) -> None:
        command = [sys.executable, __file__, "--child", *arguments]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        )
        self.cases = 0

    def check(self, name: str) -> str:
        """Return the result of a case; a child that gives none has ended afterwards."""
        process = self.process
        assert process.stdin is not None
        assert process.stdout is not None
        self.cases += 1
        process.stdin.write(f"{name}\n".encode())
        ready, _, _ = select.select([process.stdout], [], [], SECONDS)
        line = process.stdout.readline() if ready else b""
        if line:
            return str(json.loads(line))
        self.end()
        return f"the process ended with status {process.returncode}" if ready else "timeout"

    def end(self) -> None:
        """End the process."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def is_usable(self) -> bool:
        """Return True if the child can run another case."""
        return self.process.poll() is None and self.cases < CASES_OF_CHILD


def run_child(dtype: str, show_traceback: bool) -> None:
    """Read names of cases and write their results, until the input ends."""
    # What cases print must not be taken for results.
    results = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    import operator_case
    import torch

    dtypes = (getattr(torch, dtype),) if dtype else operator_case.DTYPES
    for line in sys.stdin:
        try:
            operator_case.check(line.strip(), dtypes)
            result = "pass"
        except operator_case.NotApplicableError as e:
            result = f"not applicable: {e}"
        except Exception as e:  # noqa: BLE001 any failure is a result here
            if show_traceback:
                traceback.print_exc()
            result = operator_case.reason(e)
        results.write(json.dumps(result) + "\n")


def record(file: Path, name: str, result: str) -> None:
    """Write one result into the file, which other runs may write at the same time."""
    with file.open("a+") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        stream.seek(0)
        results = json.loads(stream.read() or "{}")
        results[name] = result
        stream.seek(0)
        stream.truncate()
        stream.write(json.dumps(results, indent=1, sort_keys=True) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("names", nargs="*", help="patterns of names, as in fnmatch")
    parser.add_argument("--record", type=Path, help="bring the results into this file")
    parser.add_argument("--resume", action="store_true", help="leave out what is in the file")
    parser.add_argument("--part", default="1/1", help="K/N: the Kth of N parts of the cases")
    parser.add_argument("--traceback", action="store_true", help="print where a case fails")
    parser.add_argument("--dtype", default="", help="only this dtype, as bfloat16")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.child:
        run_child(options.dtype, options.traceback)
        return 0
    import operator_case

    part, parts = map(int, options.part.split("/"))
    patterns = options.names or ["*"]
    names = [n for n in operator_case.operators() if any(fnmatch(n, p) for p in patterns)]
    names = names[part - 1 :: parts]
    if options.resume and options.record and options.record.exists():
        recorded = json.loads(options.record.read_text())
        names = [name for name in names if name not in recorded]
    counts = {"pass": 0, "not applicable": 0, "fail": 0}
    child = None
    for number, name in enumerate(names, 1):
        if child is None or not child.is_usable():
            if child is not None:
                child.end()
            child = Child(["--dtype", options.dtype, *["--traceback"] * options.traceback])
        start = time.monotonic()
        result = child.check(name)
        outcome = result.partition(":")[0]
        counts[outcome if outcome in counts else "fail"] += 1
        seconds = time.monotonic() - start
        print(f"{number}/{len(names)} {name} {seconds:.1f} s: {result}", flush=True)
        if options.record:
            record(options.record, name, result)
    if child is not None:
        child.end()
    print(", ".join(f"{count} {outcome}" for outcome, count in counts.items()))
    return counts["fail"] > 0


if __name__ == "__main__":
    sys.exit(main())
