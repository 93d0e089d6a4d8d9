"""The packages of this repository, one line each, in the order they are built.

To add a package, add its line: every session finds its tests, benchmarks, wheel and
dependency groups from the folder.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import nox

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Package:
    """A folder that becomes a wheel.

    ``needs`` names the wheels it is made with: it is rebuilt when they change, or only when their
    ``headers`` change if ``needs_headers`` is true.
    """

    folder: str
    wheel: str
    needs: tuple[str, ...] = ()
    needs_headers: bool = False
    headers: tuple[str, ...] = ()

    @property
    def path(self) -> Path:
        """Absolute path of the folder, whatever the current directory is."""
        return ROOT / self.folder

    @property
    def area(self) -> str:
        """The short name used on command lines: ``nox -s bench -- runtime``."""
        return self.path.name

    @property
    def project(self) -> dict:
        """Content of the pyproject.toml, read again at each access."""
        return nox.project.load_toml(self.path / "pyproject.toml")

    def group(self, name: str) -> list[str]:
        """Return the requirements of a dependency group (``test``, ``bench``), empty if it has none."""
        return list(self.project.get("dependency-groups", {}).get(name, []))

    def foreign_dependencies(self) -> list[str]:
        """Return the requirements of the wheel that come from the package index, not from this repository."""
        ours = tuple(package.wheel for package in PACKAGES)
        return [
            line
            for line in self.project["project"].get("dependencies", [])
            if not line.startswith(ours)
        ]


PACKAGES = (
    Package(
        "packages/runtime",
        "xpu-runtime",
        headers=("include", "cmake", "src/xpu_runtime/codegen/elements.*"),
    ),
    Package("packages/cpu-images", "xpu-cpu-images", needs=("xpu-runtime",)),
    Package("packages/torch-xpu", "torch-xpu", needs=("xpu-runtime",), needs_headers=True),
    Package("packages/inductor-xpu", "inductor-xpu"),
    Package("packages/ao-xpu", "ao-xpu"),
    Package("packages/xla-xpu", "xla-xpu", needs=("xpu-runtime",), needs_headers=True),
    Package("packages/xpu-sdk", "xpu-sdk"),
)

# Used by the sessions only; not published.
SHARED_PACKAGES = (
    Package("shared/testing", "xpu-testing"),
    Package("shared/bench", "xpu-bench"),
)
