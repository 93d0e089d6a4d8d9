"""List, measure, verify or clear the kernel cache, move it between machines, or explain a build."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from .. import printing

HELP = (
    "list, measure, verify, clear, export or import the kernel cache, or explain where a kernel is"
)
MOVES = ("export", "import")
WITH_FILE = (*MOVES, "explain")
ACTIONS = ("list", "stats", "clear", "verify", *WITH_FILE)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the action; without one the command prints the statistics."""
    parser.add_argument("action", nargs="?", choices=ACTIONS, default="stats")
    parser.add_argument(
        "file",
        nargs="?",
        help="where export writes, what import reads, or the source of the kernel to explain",
    )
    parser.add_argument(
        "--option", action="append", default=[], help="explain: an option of the kernel's compiler"
    )


def run(options: argparse.Namespace) -> int:
    """Run the action; return 1 if it fails: the cache is off, ``verify`` finds a damaged file, ..."""
    from xpu_runtime import cache

    if (options.action in WITH_FILE) != (options.file is not None):
        printing.console.print("export, import and explain take a file, other actions none")
        return 2
    if options.action == "explain":
        return _explain(cache, options.file, options.option)
    folder = cache.folder()
    if folder is None:
        printing.console.print("The kernel cache is off. Run: xpu-sdk doctor")
        return 1
    if options.action in MOVES:
        return _move(options.action, options.file)
    return globals()[f"_{options.action}"](cache, folder)


def _move(action: str, file: str) -> int:
    from xpu_runtime import cache_archive
    from xpu_runtime.errors import UsageError

    move = cache_archive.export if action == "export" else cache_archive.import_
    try:
        moved = move(file)
    except (UsageError, OSError) as error:
        printing.console.print(f"cannot {action}: {error}", soft_wrap=True)
        return 1
    for name in moved.damaged:
        printing.console.print(f"damaged, left out: {name}", soft_wrap=True)
    size = printing.format_bytes(moved.bytes)
    printing.console.print(f"{moved.files} files ({size}) {action}ed")
    # An archive has only sound files when it is made; a damaged file of the cache is one that is built again.
    return int(action == "import" and bool(moved.damaged))


def _explain(cache, file: str, options: list[str]) -> int:  # type: ignore[no-untyped-def]
    """Say what each store answers; return 1 if the kernel is built at its next first use."""
    try:
        source = Path(file).read_text()
    except (OSError, UnicodeDecodeError) as error:
        printing.console.print(f"cannot explain: {error}", soft_wrap=True)
        return 1
    answers = cache.explain(source, options)
    rows = [(each.wanted, each.store, each.answer) for each in answers]
    printing.print_table(file, ("wanted", "asked", "answer"), rows)
    # The last kind that was asked for; SPIR-V alone must still be built.
    last = [each for each in answers if each.wanted == answers[-1].wanted]
    served = any(each.found for each in last) and last[0].wanted != "SPIR-V"
    printing.console.print(
        "A process loads it." if served else "A process builds it at its first use."
    )
    return int(not served)


def _list(cache, folder) -> int:  # type: ignore[no-untyped-def]
    now = time.time()
    rows = [
        (
            entry.path.name,
            entry.kind,
            printing.format_bytes(entry.size),
            f"{(now - entry.used) / 3600:.1f} h ago",
        )
        for entry in cache.list()
    ]
    printing.print_table(str(folder), ("file", "kind", "size", "used"), rows)
    return 0


def _stats(cache, folder) -> int:  # type: ignore[no-untyped-def]
    counts = cache.stats()
    kinds = [name.removesuffix(" files") for name in counts if name.endswith(" files")]
    rows = [
        (kind, counts[f"{kind} files"], printing.format_bytes(counts[f"{kind} bytes"]))
        for kind in kinds
    ]
    printing.print_table(str(folder), ("kind", "files", "size"), rows)
    return 0


def _clear(cache, folder) -> int:  # type: ignore[no-untyped-def]
    printing.console.print(f"{cache.clear()} files removed from {folder}")
    return 0


def _verify(cache, folder) -> int:  # type: ignore[no-untyped-def]
    damaged = cache.verify()
    for path in damaged:
        printing.console.print(f"damaged: {path}")
    printing.console.print(f"{len(cache.list())} files in {folder}, {len(damaged)} damaged")
    if damaged:
        printing.console.print(
            "A damaged file is built again when it is needed. Remove all: xpu-sdk cache clear"
        )
    return 1 if damaged else 0
