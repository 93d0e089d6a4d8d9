"""The Pythons of this machine: the one that runs nox, and the newest."""

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
    """A Python, and the folders of its wheels and environments.

    For another Python than nox's own, the names of these folders end in its version.
    """

    path: str
    version: str
    suffix: str = ""

    @property
    def dist(self) -> Path:
        """Folder of its wheels."""
        return ROOT / f"dist{self.suffix}"

    def folder(self, name: str) -> Path:
        """Return its folder of this name under .nox/."""
        return ROOT / ".nox" / f"{name}{self.suffix}"


OWN = Interpreter(sys.executable, sys.version)


def newest_interpreter() -> Interpreter | None:
    """Return the newest Python on the path or installed beside nox's own, if it is newer than that."""
    return next(iter(reversed(newer_interpreters())), None)


def newer_interpreters() -> list[Interpreter]:
    """Return the Pythons that are newer than nox's own, one of each minor version, in their order."""
    folders = [Path(folder) for folder in os.get_exec_path()]
    folders += sorted(Path(sys.base_prefix).parent.glob("*/bin"))
    found = []
    for folder in folders:
        for path in folder.glob("python3.*"):
            name = re.fullmatch(r"python3\.(\d+)", path.name)
            if name and int(name[1]) > sys.version_info.minor:
                found.append((int(name[1]), str(path)))
    interpreters: dict[int, Interpreter] = {}
    for minor, path in sorted(found):
        if minor in interpreters:
            continue
        # Run it: a shim of that name may have no Python behind it.
        try:
            done = subprocess.run(
                [path, "-c", "import sys; print(sys.version)"],
                capture_output=True,
                text=True,
                timeout=30,
                check=False,
            )
        except subprocess.TimeoutExpired:
            continue
        if done.returncode == 0:
            interpreters[minor] = Interpreter(path, done.stdout.rstrip("\n"), f"-3.{minor}")
    return list(interpreters.values())
