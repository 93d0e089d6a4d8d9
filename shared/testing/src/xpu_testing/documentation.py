"""Code of documentation pages."""

from __future__ import annotations

import re
from pathlib import Path

from .child import run_child

BLOCK = r"^```{}\n(.*?)^```$"


def block_list(page: Path, language: str) -> list[str]:
    """Return the page's blocks of code in one language."""
    return re.findall(BLOCK.format(language), page.read_text(), re.MULTILINE | re.DOTALL)


def blocks(page: Path, language: str) -> str:
    """Return the page's code in one language, as one program."""
    return "\n".join(block_list(page, language))


def printed(code: str) -> list[str]:
    """Return the lines that the code prints, which are the comments behind its calls of print."""
    return re.findall(r"^ *print\(.*\)  # (.*)$", code, re.MULTILINE)


def run_example(script: Path, *options: str, cwd: Path, timeout: float = 120) -> str:
    """Run an example with these options and return what it prints."""
    return run_child(script, timeout=timeout, cwd=cwd, arguments=options).check().out
