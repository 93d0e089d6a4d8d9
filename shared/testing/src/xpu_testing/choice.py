"""Which tests `--sample` and `--budget` choose: by the commit and each test's name, not by the date."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import pytest


def head_commit(folder: Path) -> str:
    """Return the start of the hash of HEAD; nothing outside a repository."""
    git = ["git", "-C", str(folder), "rev-parse", "--short=12", "HEAD"]
    return subprocess.run(git, capture_output=True, text=True, check=False).stdout.strip()


def rank(test: str, choice: str) -> int:
    """Return a number that looks random. A new test does not change that of others."""
    return int.from_bytes(sha256(f"{choice} {test}".encode()).digest()[:4])


def choose_sample(items: Sequence[pytest.Item], n: int, choice: str) -> set[pytest.Item]:
    """Return one item of n, at least one."""
    ranks = {item: rank(item.nodeid, choice) for item in items}
    sample = {item for item in items if ranks[item] % n == 0}
    return sample or set(sorted(items, key=ranks.__getitem__)[:1])
