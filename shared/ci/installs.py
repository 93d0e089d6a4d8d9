"""Install the release's wheels into empty environments, run doctor and demo, and uninstall them."""

from __future__ import annotations

import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

import nox

from .environments import CONSTRAINTS, Environment
from .interpreters import OWN, Interpreter, newer_interpreters
from .packages import PACKAGES
from .release import FOLDER

# What stays when pip has removed our packages: nothing of these names.
NAMES = [package.wheel.replace("-", "_") for package in PACKAGES] + ["startup.py", ".pth"]
# Brought by virtualenv.
FOREIGN = {"_virtualenv.pth", "distutils-precedence.pth"}


@dataclass
class Install:
    """An extra, the Python, the PyTorch that is there before, and pip's limits on versions."""

    extra: str
    interpreter: Interpreter = OWN
    torch: str = ""
    constraints: Path | None = CONSTRAINTS

    @property
    def name(self) -> str:
        """The name of the environment."""
        torch = f"-torch-{self.torch.strip('=')}" if self.torch else ""
        return f"install-{self.extra or 'base'}{torch}"


def all_installs() -> list[Install]:
    """Return one for each extra, and all extras on other Pythons and beside PyTorch's two wheels."""
    umbrella = next(package for package in PACKAGES if package.wheel == "xpu-sdk")
    extras = umbrella.project["project"]["optional-dependencies"]
    return [
        *(Install(extra) for extra in ("", *extras)),
        *(Install("all", interpreter, constraints=None) for interpreter in newer_interpreters()),
        Install("torch", torch="==2.13.0", constraints=None),
        Install("torch", torch="===2.14.1", constraints=None),
    ]


def run(session: nox.Session) -> None:
    """Install each, or those whose names the arguments are."""
    if not list(FOLDER.glob("*.whl")):
        session.error(f"{FOLDER} has no wheels: nox -s release")
    for install in all_installs():
        if not session.posargs or install.name in session.posargs:
            session.log(f"{install.name}{install.interpreter.suffix}")
            _check(session, install)


def _check(session: nox.Session, install: Install) -> None:
    environment = Environment(install.name, install.interpreter, constraints=install.constraints)
    shutil.rmtree(environment.path, ignore_errors=True)
    environment.create(session)
    pip = ["-m", "pip", "install", "--quiet", "--find-links", str(FOLDER)]
    if install.constraints:
        pip += ["--constraint", str(install.constraints)]
    version = ("-c", "import importlib.metadata as m; print(m.version('torch'))")
    if install.torch:
        environment.python(session, *pip, f"torch{install.torch}")
        before = environment.output(session, *version)
    environment.python(session, *pip, f"xpu-sdk[{install.extra}]" if install.extra else "xpu-sdk")
    if install.torch and environment.output(session, *version) != before:
        session.error(f"pip replaced torch {before}")
    environment.python(session, "-m", "pip", "check")
    # The demo writes a trace where it runs.
    with tempfile.TemporaryDirectory() as home, session.chdir(home):
        variables = os.environ | {"XDG_CACHE_HOME": home}
        for command in ("doctor", "demo"):
            environment.python(session, "-m", "xpu_sdk", command, env=variables)
    wheels = [package.wheel for package in PACKAGES]
    environment.python(session, "-m", "pip", "uninstall", "--quiet", "--yes", *wheels)
    (packages,) = environment.path.glob("lib/python3.*/site-packages")
    left = [path.name for path in packages.iterdir() if path.name.endswith(tuple(NAMES))]
    if unexpected := sorted(set(left) - FOREIGN):
        session.error(f"pip uninstall leaves {', '.join(unexpected)}")
    shutil.rmtree(environment.path)
