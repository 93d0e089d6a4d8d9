"""``python -m xpu_bench --root TREE AREA... [--json FILE] [--only PATTERN]``."""

from __future__ import annotations

import argparse
import fnmatch
import importlib.util
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .measure import Row

THREADS = 2


def limit_threads() -> None:
    """Both sides get the same two cores; must come before any numeric library is loaded."""
    cores = sorted(os.sched_getaffinity(0))[:THREADS]
    os.sched_setaffinity(0, cores)
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "DPCPP_CPU_NUM_CUS"):
        os.environ[name] = str(len(cores))


def find_areas(root: Path) -> dict[str, list[Path]]:
    """Benchmark files by area: the name of the package's folder, without what all adapters' end in."""
    areas: dict[str, list[Path]] = {}
    for path in sorted(root.glob("packages/*/benchmarks/bench_*.py")):
        areas.setdefault(path.parents[1].name.removesuffix("-xpu"), []).append(path)
    return areas


def load_cases(path: Path) -> Iterator:
    """The cases of one file."""
    spec = importlib.util.spec_from_file_location(f"xpu_bench_{path.stem}", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look their module up
    sys.path.insert(0, str(path.parent))
    try:
        spec.loader.exec_module(module)
        yield from module.cases()
    finally:
        sys.path.remove(str(path.parent))


def keep(file: Path, measured: Mapping[str, Sequence[Row]], *, whole: bool) -> None:
    """Brings rows into a file of rows by area; other areas, and other rows unless `whole`, stay."""
    kept = json.loads(file.read_text()) if file.exists() else {}
    for area, rows in measured.items():
        found = {} if whole else {row["name"]: row for row in kept.get(area, [])}
        found |= {row.name: row.as_dict() for row in rows}
        kept[area] = list(found.values())
    file.write_text(json.dumps(kept, indent=1) + "\n")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("areas", nargs="*", help="packages to measure; all when none is named")
    parser.add_argument("--root", type=Path, default=Path.cwd(), help="the repository")
    parser.add_argument("--json", type=Path, metavar="FILE", help="bring the rows into FILE")
    parser.add_argument("--only", default="*", metavar="PATTERN", help="cases whose name matches")
    options = parser.parse_args(arguments)
    known = find_areas(options.root)
    unknown = [area for area in options.areas if area not in known]
    if unknown:
        parser.error(f"no such area: {', '.join(unknown)}; there are: {', '.join(known) or 'none'}")
    limit_threads()

    from .case import Mean
    from .measure import mean_of, measure
    from .report import print_table, quantity

    measured: dict[str, list[Row]] = {}
    whole = options.only == "*"  # the mean of a part says nothing
    for area in options.areas or known:
        of_area: list[Row] = []
        for path in known[area]:
            for case in load_cases(path):
                if isinstance(case, Mean):
                    if whole:
                        of_area.append(mean_of(case, of_area))
                elif fnmatch.fnmatch(case.name, options.only):
                    row = measure(case)
                    of_area.append(row)
                    print(
                        f"{case.name}: {quantity(row.ours, row.unit)}", file=sys.stderr, flush=True
                    )
        print_table(f"{area}: ours beside a peer, in turn, on {THREADS} threads", of_area)
        measured[area] = of_area
    if options.json:
        keep(options.json, measured, whole=whole)
    missed = [row.name for rows in measured.values() for row in rows if not row.ok]
    if missed:
        print(f"below the bar: {', '.join(missed)}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
