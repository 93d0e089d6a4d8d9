"""The code of documentation pages."""

from __future__ import annotations

import re
from pathlib import Path

BLOCK = r"^```{}\n(.*?)^```$"


def blocks(page: Path, language: str) -> str:
    """The page's code in one language, as one program."""
    found = re.findall(BLOCK.format(language), page.read_text(), re.MULTILINE | re.DOTALL)
    return "\n".join(found)
