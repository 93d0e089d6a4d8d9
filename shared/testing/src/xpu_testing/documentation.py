"""Code of documentation pages."""

from __future__ import annotations

import re
from pathlib import Path

from .child import run_child

BLOCK = r"^```{}\n(.*?)^```$"


def blocks(page: Path, language: str) -> str:
    """Return the page's code in one language, as one program."""
    found = re.findall(BLOCK.format(language), page.read_text(), re.MULTILINE | re.DOTALL)
    return "\n".join(found)


def run_example(script: Path, *options: str, cwd: Path) -> str:
    """Run an example with these options and return its output."""
    program = f"import runpy, sys; sys.argv = {[str(script), *options]!r}; "
    program += f"sys.path.insert(0, {str(script.parent)!r}); "
    program += f"runpy.run_path({str(script)!r}, run_name='__main__')"
    return run_child(program, cwd=cwd).check().out
