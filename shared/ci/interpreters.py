"""The Pythons of this machine: the one that runs nox, and the newest one there is."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from .packages import ROOT


@dataclass(frozen=True)
class Interpreter:
    """A Python, and where the things made for it are kept.

    What is made for another Python than nox's own lies beside it, in folders whose names end in
    its version.
    """

    path: str
    version: str
    suffix: str = ""

    @property
    def dist(self) -> Path:
        """The folder of its wheels."""
        return ROOT / f"dist{self.suffix}"

    def folder(self, name: str) -> Path:
        """Its folder of a name, under .nox/."""
        return ROOT / ".nox" / f"{name}{self.suffix}"


OWN = Interpreter(sys.executable, sys.version)


def newest() -> Interpreter | None:
    """The newest Python that is newer than nox's own: on the path, or installed beside it."""
    folders = [Path(folder) for folder in os.get_exec_path()]
    folders += sorted(Path(sys.base_prefix).parent.glob("*/bin"))
    found = []
    for folder in folders:
        for path in folder.glob("python3.*"):
            name = re.fullmatch(r"python3\.(\d+)", path.name)
            if name and int(name[1]) > sys.version_info.minor:
                found.append((int(name[1]), str(path)))
    for minor, path in sorted(found, reverse=True):
        # Not everything of that name is one: a shim only says which Pythons it knows.
        try:
            asked = subprocess.run(
                [path, "-c", "import sys; print(sys.version)"],
                capture_output=True,
                text=True,
                timeout=30,
                check=False,
            )
        except subprocess.TimeoutExpired:
            continue
        if asked.returncode == 0:
            return Interpreter(path, asked.stdout.rstrip("\n"), f"-3.{minor}")
    return None
