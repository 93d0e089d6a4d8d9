"""``python -m xpu_bench --root TREE AREA... [--json FILE] [--only PATTERN] [--limit SECONDS]``."""

from __future__ import annotations

import argparse
import fnmatch
import importlib.util
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from .cores import THREADS, use_cores
from .progress import Progress, Stopped, raising_signals, running

if TYPE_CHECKING:
    from .measure import Row


def find_areas(root: Path) -> dict[str, list[Path]]:
    """Benchmark files by area: the name of the package's folder, without what all adapters' end in."""
    areas: dict[str, list[Path]] = {}
    for path in sorted(root.glob("packages/*/benchmarks/bench_*.py")):
        areas.setdefault(path.parents[1].name.removesuffix("-xpu"), []).append(path)
    return areas


@contextmanager
def loaded_cases(path: Path) -> Iterator[list]:
    """Yield the cases of one file, whose folder is importable inside the context."""
    spec = importlib.util.spec_from_file_location(f"xpu_bench_{path.stem}", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look their module up
    sys.path.insert(0, str(path.parent))
    try:
        spec.loader.exec_module(module)
        yield list(module.cases())
    finally:
        sys.path.remove(str(path.parent))
        # Another area may have a file of the same name.
        for name in [name for name, own in sys.modules.items() if _is_in(path.parent, own)]:
            del sys.modules[name]


def _is_in(folder: Path, module: ModuleType) -> bool:
    file = getattr(module, "__file__", None)
    return file is not None and Path(file).parent == folder


def save_rows(file: Path, measured: Mapping[str, Sequence[Row]], *, whole: bool) -> None:
    """Write rows into a file of rows by area. Other areas stay, and other rows unless `whole`."""
    areas = json.loads(file.read_text()) if file.exists() else {}
    for area, rows in measured.items():
        merged = {} if whole else {row["name"]: row for row in areas.get(area, [])}
        merged |= {row.name: row.as_dict() for row in rows}
        areas[area] = list(merged.values())
    partial = file.with_name(f"{file.name}.part")
    partial.write_text(json.dumps(areas, indent=1) + "\n")
    partial.replace(file)  # atomic, so that a run that is killed leaves a whole file


def main(arguments: list[str] | None = None) -> int:
    """Measure the areas; return 1 if a row missed its bar, or the code of the signal that stopped it."""
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("areas", nargs="*", help="packages to measure; all when none is named")
    parser.add_argument("--root", type=Path, default=Path.cwd(), help="the repository")
    parser.add_argument("--json", type=Path, metavar="FILE", help="bring the rows into FILE")
    parser.add_argument("--only", default="*", metavar="PATTERN", help="cases whose name matches")
    parser.add_argument(
        "--limit", type=float, default=900, metavar="SECONDS", help="what a case may take"
    )
    options = parser.parse_args(arguments)
    known = find_areas(options.root)
    unknown = [area for area in options.areas if area not in known]
    if unknown:
        parser.error(f"no such area: {', '.join(unknown)}; there are: {', '.join(known) or 'none'}")
    use_cores(THREADS)  # before any numeric library is loaded

    from .report import print_table

    measured: dict[str, list[Row]] = {}
    code = 0
    try:
        with raising_signals():
            for area in options.areas or known:
                rows = measured[area] = []
                try:
                    measure_area(area, known[area], options, rows)
                finally:
                    print_table(f"{area}: ours beside a peer, in turn, on {THREADS} threads", rows)
    except Stopped as stopped:
        print(stopped, file=sys.stderr)
        code = stopped.exit_code
    missed = [row.name for rows in measured.values() for row in rows if not row.ok]
    if missed:
        print(f"below the bar: {', '.join(missed)}", file=sys.stderr)
    return code or int(bool(missed))


def measure_area(
    area: str, paths: Sequence[Path], options: argparse.Namespace, rows: list[Row]
) -> None:
    """Measure the cases of an area into `rows`. Each row is printed, and written to the file, at once."""
    from .case import Mean
    from .measure import mean_of, measure

    whole = options.only == "*"  # the mean of a part says nothing
    for path in paths:
        with ExitStack() as stack:
            with running(f"{area} {path.stem}, its cases", options.limit):
                cases = stack.enter_context(loaded_cases(path))
            wanted = [
                case
                for case in cases
                if (whole if isinstance(case, Mean) else fnmatch.fnmatch(case.name, options.only))
            ]
            progress = Progress(f"{area} {path.stem}", len(wanted), options.limit)
            for case in wanted:
                with progress.of(case.name):
                    row = mean_of(case, rows) if isinstance(case, Mean) else measure(case)
                rows.append(row)
                progress.print_row(row)
                if options.json:
                    save_rows(options.json, {area: [row]}, whole=False)
    if options.json:
        save_rows(options.json, {area: rows}, whole=whole)


if __name__ == "__main__":
    sys.exit(main())
