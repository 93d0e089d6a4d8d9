"""Reject everyday words as names: they do not tell what they name. Prose may use them.

`python shared/ci/check_names.py [FILE ...]`, by default of all files that git knows.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

WORDS = "kept below lent elsewhere Moment Ending patience much meet turned one_text taps Companion"
NAME = re.compile(rf"(?<!\w)_*({'|'.join(WORDS.split())}|(?:most|MOST)_(?!common\b)\w+)_*(?!\w)")
# Comments and the strings of a line. Texts of several lines are docstrings in Python, kernels in C++.
PROSE = {
    ".py": re.compile(
        r'"""(?:\\.|[^\\])*?"""|"(?:\\.|[^"\\\n])*"|'
        r"'(?:\\.|[^'\\\n])*'|#[^\n]*",
    ),
    ".cpp": re.compile(r'//[^\n]*|/\*(?:.|\n)*?\*/|"(?:\\.|[^"\\\n])*"'),
}


def rejected_names(path: Path) -> list[str]:
    """Return the rejected names of a file, each with its line."""
    prose = PROSE.get(path.suffix, PROSE[".cpp"])
    code = prose.sub(lambda match: "\n" * match[0].count("\n"), path.read_text())
    lines = enumerate(code.splitlines(), 1)
    return [f"{path}:{line}: {name}" for line, text in lines for name in NAME.findall(text)]


if __name__ == "__main__":
    listing = ["git", "ls-files", "*.py", "*.h", "*.cpp", "*.sycl"]
    files = sys.argv[1:] or subprocess.check_output(listing, text=True).splitlines()
    found = [name for file in files for name in rejected_names(Path(file))]
    sys.exit("\n".join(found) or 0)
