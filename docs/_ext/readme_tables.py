"""The README's tables of speed and of what ran, made from docs/benchmarks.json and docs/compatibility.json.

`python3 docs/_ext/readme_tables.py` prints them, `--write` puts them into the README.
"""

from __future__ import annotations

import fnmatch
import json
import re
import statistics
import sys
from pathlib import Path

from tables import duration, table

ROOT = Path(__file__).resolve().parents[2]
BENCHMARKS = ROOT / "docs" / "benchmarks.json"
COMPATIBILITY = ROOT / "docs" / "compatibility.json"
README = ROOT / "README.md"
# The line of the README above a table.
HEAD = "<!-- {name}, made by: python3 docs/_ext/readme_tables.py --write -->\n"

COLUMNS = ("", "stock CPU", "xpu, same cores", "speed-up")

PRODUCTS = ("mm *", "bmm *", "einsum *", "linear *", "conv *", "sdpa *")
# Text, area, names of cases. A line of several cases, or of a pattern, is their geometric mean.
LINES = (
    ("PyTorch: training step of GPT-2 small, f32", "torch", "step of GPT-2 small, 2x256 f32"),
    ("training steps of GPT-2, BERT and ResNet-50, f32 and bf16", "torch", "step of *"),
    ("Llama of 100 M parameters generates, bf16, xpu by a graph", "torch", "decode with a graph"),
    ("matrix products, convolutions, attention", "torch", *PRODUCTS),
    ("other operators of large tensors", "torch", "op *"),
    ("Fourier transforms (the runtime's)", "runtime", "*fft *"),
    ("JAX: training step of a 2-layer transformer", "xla", "step: 2-layer transformer"),
    ("training steps, an ODE, Monte Carlo", "xla", "step: *"),
    ("matrix products, convolutions", "xla", *PRODUCTS),
    ("functions that become one kernel or a few", "xla", "fused: *"),
    ("`x + 1` of 8 numbers, waited for", "xla", "host: x + 1 of 8, waited for"),
    (
        "compiling the transformer's step, empty caches",
        "xla",
        "compile: transformer step, empty caches",
    ),
)


def cells(results: dict[str, list[dict]], text: str, area: str, *names: str) -> tuple[str, ...]:
    """Return the texts of a line."""
    rows = [
        row
        for row in results[area]
        if row["peer"] and any(fnmatch.fnmatchcase(row["name"], name) for name in names)
    ]
    if not rows:
        raise SystemExit(f"{BENCHMARKS} has no case {' or '.join(names)} in its area {area}")
    speedups = [row["peer"] / row["ours"] for row in rows]
    if len(rows) == 1:
        return text, duration(rows[0]["peer"]), duration(rows[0]["ours"]), f"{speedups[0]:.2f}"
    mean, low, high = statistics.geometric_mean(speedups), min(speedups), max(speedups)
    return f"{text}: {len(rows)} cases", "", "", f"{mean:.2f} ({low:.2f} to {high:.1f})"


def speed_table() -> str:
    """Return the table."""
    results = json.loads(BENCHMARKS.read_text())
    return "\n".join(table(COLUMNS, [cells(results, *line) for line in LINES]))


def compatibility_table() -> str:
    """Return the table of the runs with other versions than those of CI."""
    runs = json.loads(COMPATIBILITY.read_text())
    if not runs:
        return "| no run is on record |\n| --- |"
    columns = ("suites of", "Python", "with", "passed", "failed", "skipped", "date")
    rows = [
        (
            ", ".join(run["suites"]),
            run["python"],
            ", ".join(f"{name} {version}" for name, version in run["versions"].items()),
            *(str(run[count]) for count in ("passed", "failed", "skipped")),
            run["date"],
        )
        for run in runs
    ]
    return "\n".join(table(columns, rows))


TABLES = {"speed": speed_table, "what ran": compatibility_table}


def write() -> None:
    """Replace the tables in the README."""
    text = README.read_text()
    for name, make in TABLES.items():
        head, made = HEAD.format(name=name), make()
        text, count = re.subn(
            re.escape(head) + r"(\|.*\n)*", lambda _, new=f"{head}{made}\n": new, text
        )
        if count != 1:
            raise SystemExit(f"{README} must have this line once, above the table: {head}")
    README.write_text(text)


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        write()
    elif sys.argv[1:]:
        raise SystemExit(f"expected nothing or --write, found {' '.join(sys.argv[1:])}")
    else:
        print("\n\n".join(make() for make in TABLES.values()))
