"""Whether a fuzzer notices faults, for the test of each fuzzer."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path

from .processes import run

_LINE = re.compile(r"^(\w+ \w+): (\d+) of (\d+) noticed", re.MULTILINE)


def noticed_faults(fuzzer: Path, cases: Sequence[int]) -> dict[str, tuple[int, int]]:
    """Run cases of a fuzzer with faults put into their results.

    Returns of each fault and dtype how many were noticed, and how many there were. Raises AssertionError if
    a case fails by itself, or if less than 90 % of the faults were noticed.
    """
    options = [option for case in cases for option in ("--case", str(case))]
    command = [sys.executable, str(fuzzer), "--mutate", "all", "--jobs", "1", *options]
    done = run(command, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return {name: (int(noticed), int(count)) for name, noticed, count in _LINE.findall(done.stdout)}
