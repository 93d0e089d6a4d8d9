"""Runs a program as ranks that find each other by a file."""

from __future__ import annotations

import tempfile
import threading
from pathlib import Path
from typing import Any

from xpu_testing import run_child
from xpu_testing.child import ChildResult

PROGRAMS = Path(__file__).parent / "programs"


def run_ranks(
    program: str,
    *arguments: str,
    env: dict[str, str] | None = None,
    timeout: float = 300,
    check: bool = True,
    ranks: int = 2,
) -> list[ChildResult]:
    """Return the results of the ranks; each is killed, with all that it started, after the timeout."""
    results: list[Any] = [None] * ranks
    with tempfile.TemporaryDirectory() as folder:

        def run(rank: int) -> None:
            variables = {
                "RANK": str(rank),
                "RANKS": str(ranks),
                "STORE": str(Path(folder) / "store"),
                "XPU_FALLBACK": "error",
                "OMP_NUM_THREADS": "1",
                **(env or {}),
            }
            results[rank] = run_child(
                PROGRAMS / program, env=variables, timeout=timeout, arguments=arguments
            )

        threads = [threading.Thread(target=run, args=(rank,)) for rank in range(ranks)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    if check:
        # The rank that failed first may be any.
        texts = [
            f"--- rank {rank}: {r.exit_code}\n{r.out}\n{r.err}" for rank, r in enumerate(results)
        ]
        assert not any(result.exit_code for result in results), "\n".join(texts)
    return results
