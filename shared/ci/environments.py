"""Virtual environments that several sessions share, so that vendor wheels are unpacked once."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import nox

from .interpreters import OWN, Interpreter
from .packages import ROOT

CONSTRAINTS = Path(__file__).with_name("constraints.txt")


@contextmanager
def preparation_lock() -> Iterator[None]:
    """Hold the lock for building wheels and filling environments. Blocks while another session has it."""
    (ROOT / ".nox").mkdir(exist_ok=True)
    with (ROOT / ".nox" / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


class Environment:
    """A virtualenv under .nox/ that pip fills, with a record of what is installed.

    ``compile`` is False if little of the Python in it will run: pip then compiles none ahead.
    ``constraints`` limits versions, as pip does.
    """

    def __init__(
        self,
        name: str,
        interpreter: Interpreter = OWN,
        compile: bool = True,
        constraints: Path | None = CONSTRAINTS,
    ) -> None:
        self._interpreter = interpreter
        options = [] if compile else ["--no-compile"]
        options += ["--constraint", str(constraints)] if constraints else []
        self._pip = ("-m", "pip", "install", "--quiet", *options)
        self.path = interpreter.folder(name)
        self.bin = self.path / "bin"
        self._record = self.path / "installed.json"

    def _installed(self) -> dict[str, str]:
        return json.loads(self._record.read_text()) if self._record.exists() else {}

    def _record_installed(self, **entries: str) -> None:
        self._record.write_text(json.dumps(self._installed() | entries, indent=1))

    def create(self, session: nox.Session) -> None:
        """Make the environment if it is missing or was made for another Python."""
        wanted = self._interpreter
        if self._installed().get("python") != wanted.version:
            command = ["-m", "virtualenv", "--quiet", "--clear", "--python", wanted.path]
            session.run(OWN.path, *command, str(self.path), external=True)
            self._record_installed(python=wanted.version)

    def python(self, session: nox.Session, *arguments: str, **options) -> None:
        """Run this environment's interpreter."""
        variables = {
            "VIRTUAL_ENV": str(self.path),
            "PATH": f"{self.bin}{os.pathsep}{os.environ['PATH']}",
        }
        options["env"] = variables | (options.get("env") or {})
        # Leave time for a report after Ctrl-C, and after the signal that nox sends next.
        options = {"interrupt_timeout": 5.0, "terminate_timeout": 15.0} | options
        session.run(str(self.bin / "python"), *arguments, external=True, **options)

    def output(self, session: nox.Session, *arguments: str) -> str:
        """Return what this environment's interpreter prints."""
        python = str(self.bin / "python")
        return session.run(python, *arguments, external=True, silent=True).strip()

    def install(self, session: nox.Session, *requirements: str) -> None:
        """Install requirements from the package index, once for each set."""
        self.create(session)
        wanted = sorted(set(requirements))
        key = hashlib.sha256(repr(wanted).encode()).hexdigest()[:16]
        if wanted and key not in self._installed():
            self.python(session, *self._pip, *wanted)
            self._record_installed(**{key: " ".join(wanted)})

    def install_wheels(
        self, session: nox.Session, wheels: Sequence[Path], requirements: Sequence[str] = ()
    ) -> None:
        """Install our own wheels with their dependencies, replacing any that changed."""
        self.create(session)
        installed = self._installed()
        digests = {wheel.name: hashlib.sha256(wheel.read_bytes()).hexdigest() for wheel in wheels}
        changed = [wheel for wheel in wheels if installed.get(wheel.name) != digests[wheel.name]]
        dist = str(self._interpreter.dist)
        pip = (*self._pip, "--find-links", dist)
        if changed:
            self.python(session, *pip, *map(str, changed), *requirements)
            self.python(session, *pip, "--force-reinstall", "--no-deps", *map(str, changed))
            self._record_installed(**{wheel.name: digests[wheel.name] for wheel in changed})
        self.install(session, *requirements)
