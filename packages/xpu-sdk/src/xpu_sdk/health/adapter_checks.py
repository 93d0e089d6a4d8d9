"""Checks that adapters bring themselves, each in a child process."""

from __future__ import annotations

from collections.abc import Iterator

from .. import adapters
from .finding import Finding
from .probe import ProbeFailed, run_probe

PROBE = """
    import json
    from importlib.metadata import entry_points
    (entry,) = entry_points(group=GROUP, name=NAME)
    print(json.dumps(entry.load()()))
"""


def check() -> Iterator[Finding]:
    """Run every check; it returns what it found, and raises if something is wrong."""
    for name in adapters.check_names():
        code = PROBE.replace("GROUP", repr(adapters.CHECKS)).replace("NAME", repr(name))
        try:
            yield Finding(name, "ok", run_probe(code))
        except ProbeFailed as error:
            yield Finding(name, "fail", str(error), "report it with: xpu-sdk info --json")
