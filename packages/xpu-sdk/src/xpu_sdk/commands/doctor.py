"""Check every layer, from the wheels to the adapters. A failure has a cause and a command to fix it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import asdict

from rich.text import Text

from .. import printing
from ..health import (
    adapter_checks,
    caches,
    devices,
    drivers,
    environment,
    kernel_images,
    libraries,
    triton,
    wheels,
)
from ..health.finding import Finding

HELP = "check every layer; exit code 1 when one fails"

LAYERS = (
    wheels,
    libraries,
    drivers,
    devices,
    kernel_images,
    caches,
    environment,
    triton,
    adapter_checks,
)
MARKS = {
    "ok": Text("ok", "green"),
    "note": Text("note", "yellow"),
    "fail": Text("FAIL", "bold red"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add ``--json``, which prints the findings together, after the last check."""
    parser.add_argument("--json", action="store_true", help="for programs")


def examine() -> Iterator[Finding]:
    """Yield every finding. If the runtime does not start, the layers above it are not checked."""
    for layer in LAYERS:
        failed = False
        for finding in layer.check():
            failed |= finding.state == "fail"
            yield finding
        if failed and layer in (wheels, libraries):
            return


def run(options: argparse.Namespace) -> int:
    """Print each finding as soon as it is known; return 1 if any check failed."""
    findings = []
    for finding in examine():
        findings.append(finding)
        if not options.json:
            found = Text.assemble((finding.layer, "bold"), f": {finding.found}")
            printing.console.print(MARKS[finding.state], found, soft_wrap=True)
            if finding.fix:
                printing.console.print("     fix:", finding.fix, soft_wrap=True)
    failures = sum(finding.state == "fail" for finding in findings)
    if options.json:
        printing.print_json([asdict(finding) for finding in findings])
    else:
        printing.console.print(f"{len(findings)} checks, {failures} failed")
    return 1 if failures else 0
