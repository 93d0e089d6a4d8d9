"""Random JAX programs on xpu beside JAX's CPU: ``nox -s fuzz -- jax --cases N --seed S [--case NUMBER]``.

A case is its number, and comes out the same every time. Children run a hundred of them each, so that one
which ends its process fails alone. ``known.py`` holds the differences that are explained.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

CASES_OF_A_CHILD = 100
SECONDS_OF_A_CASE = 120


def main() -> int:
    """Runs cases ``seed`` to ``seed + cases``; 0 when nothing unexplained differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--case", type=int, help="one case, with what fails in full")
    parser.add_argument("--child", nargs=2, type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case is not None:
        return only(options.case)
    if options.child:
        child(*options.child)
        return 0
    from known import reason_of

    passed = failed = known = skipped = 0
    for number, outcome in outcomes(options.seed, options.seed + options.cases):
        if outcome == "passed":
            passed += 1
        elif outcome.startswith("skipped"):
            skipped += 1
        elif reason := reason_of(number, outcome):
            known += 1
            print(f"case {number}: known: {reason}", flush=True)
        else:
            failed += 1
            print(f"case {number}: {outcome}", flush=True)
    print(f"{known} differ for a known reason, {skipped} are not run by JAX's CPU")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


def outcomes(first: int, end: int):
    """Each case's number and what came of it."""
    at, side = first, ""
    while at < end:
        last = min(at + CASES_OF_A_CHILD, end)
        process = subprocess.Popen(
            [sys.executable, __file__, "--child", str(at), str(last)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            errors="replace",
        )
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("on "):
                side = line.split()[1]
            if line.startswith("case "):
                name, _, outcome = line.rstrip("\n").partition(": ")
                yield int(name.split()[1]), outcome
                at = int(name.split()[1]) + 1
        process.wait()
        if at < last:
            ended = f"its process ended with {process.returncode} on {side}"
            yield at, f"skipped: {ended}" if side == "cpu" else ended
            at += 1


def child(first: int, end: int) -> None:
    """Prints a line for each case."""
    import signal

    from case import judge

    for number in range(first, end):
        signal.alarm(SECONDS_OF_A_CASE)
        try:
            outcome = judge(number)
        except Exception as error:  # noqa: BLE001 - any of them is a finding
            outcome = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
        print(f"case {number}: {outcome}", flush=True)


def only(number: int) -> int:
    """One case, with its operations and with the error as it is."""
    from case import Case, judge

    try:
        print(judge(number))
        return 0
    finally:
        case = Case(number)
        import jax

        with jax.enable_x64(case.wide):
            text = jax.make_jaxpr(case.function())(*case.arguments)
        print(case.names, [f"{a.dtype}{list(a.shape)}" for a in case.arguments], text, sep="\n")


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    sys.exit(main())
