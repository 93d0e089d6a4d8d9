"""Comments of kernels, for code that is shown.

A kernel is written, built and cached as without them: the lengths that decide its form leave them out.
"""

from __future__ import annotations

import re

_MARK = "  //: "
_COMMENT = re.compile(re.escape(_MARK) + r"[^\n]*")


def commented(line: str, comment: str) -> str:
    """Return a line with a comment, if there is one, behind it."""
    return f"{line}{_MARK}{comment}" if comment else line


def without_comments(source: str) -> str:
    """Return the source as it is built."""
    return _COMMENT.sub("", source)
