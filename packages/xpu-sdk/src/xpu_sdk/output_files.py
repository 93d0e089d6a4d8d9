"""Files that a command writes when its work is done: what would prevent it is found before."""

from __future__ import annotations

import os
from pathlib import Path


def why_unwritable(file: Path, option: str) -> str | None:
    """Return why the file that an option names cannot be written, or None."""
    if file.is_dir():
        return f"{option} {file} is a folder, expected a file"
    folder = file.resolve().parent
    if not folder.is_dir():
        return f"{option} {file}: there is no folder {folder}"
    return (
        None
        if os.access(file if file.exists() else folder, os.W_OK)
        else f"{option} {file} is not writable"
    )
