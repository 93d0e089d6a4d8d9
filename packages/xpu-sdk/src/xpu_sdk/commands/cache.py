"""List, measure, verify or clear the kernel cache."""

from __future__ import annotations

import argparse
import time

from .. import printing

HELP = "list, measure, verify or clear the kernel cache"
ACTIONS = ("list", "stats", "clear", "verify")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the action; without one the command prints the statistics."""
    parser.add_argument("action", nargs="?", choices=ACTIONS, default="stats")


def run(options: argparse.Namespace) -> int:
    """Run the action; return 1 if the cache is off, or if ``verify`` finds a damaged file."""
    from xpu_runtime import cache

    folder = cache.folder()
    if folder is None:
        printing.console.print("The kernel cache is off. Run: xpu-sdk doctor")
        return 1
    return globals()[f"_{options.action}"](cache, folder)


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
