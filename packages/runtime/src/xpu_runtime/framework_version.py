"""Versions of frameworks: an adapter serves those that its wheel requires, and stands aside otherwise.

It must ask before it loads a library or changes the framework, both of which fit these versions only.
"""

from __future__ import annotations

import re
import sys
from importlib import metadata
from typing import NamedTuple


class Mismatch(NamedTuple):
    """Why an adapter cannot serve the framework that is installed, and the command that changes it."""

    reason: str
    fix: str


def find_mismatch(wheel: str, framework: str, version: str) -> Mismatch | None:
    """Return None if the adapter's wheel may be used with this version of the framework."""
    specifier = _required(wheel, framework)
    if _fits(version, specifier):
        return None
    reason = (
        f"{wheel} {metadata.version(wheel)} is for {framework}{specifier}, and this is "
        f"{framework} {version}: {framework} has no device xpu"
    )
    # What requires another version of the framework must change with it.
    wheels = [f'"{framework}{specifier}"', *_pinned_otherwise(framework, specifier)]
    command = f"{sys.executable} -m pip install {' '.join(wheels)}"
    if version.endswith("+cpu"):
        command += " --extra-index-url https://download.pytorch.org/whl/cpu"
    return Mismatch(reason, command)


def is_development(version: str) -> bool:
    """Whether a version lies between releases, so that its binary interface may be none of theirs."""
    return re.search(r"\.dev|a\d", version.partition("+")[0]) is not None


def describe(wheel: str, framework: str, mismatch: Mismatch | None) -> dict[str, object]:
    """Return what ``xpu-sdk doctor`` shows of an adapter: versions and, if it stands aside, why."""
    known: dict[str, object] = {
        "version": metadata.version(wheel),
        "framework": f"{framework} {metadata.version(framework)}",
    }
    return known | {"problem": mismatch.reason, "fix": mismatch.fix} if mismatch else known


def _required(wheel: str, framework: str) -> str:
    for requirement in metadata.requires(wheel) or ():
        if found := _specifier(requirement, framework):
            return found
    raise RuntimeError(
        f"the metadata of {wheel} requires no version of {framework}: install the wheel again"
    )


def _specifier(requirement: str, framework: str) -> str:
    """Return the version clauses of a requirement; "" if it has a condition or is of another package."""
    found = re.fullmatch(rf"{framework}\s*\(?\s*([=<>!~][^;)]*)\)?\s*", requirement)
    # The lowest version first: wheels have them in the order of their characters.
    return ",".join(sorted(found[1].replace(" ", "").split(","), reverse=True)) if found else ""


def _fits(version: str, specifier: str) -> bool:
    """Compare as pip does, for the operators of our wheels; a local label (+cpu) does not count."""
    for clause in specifier.split(","):
        operator, bound = re.fullmatch(r"(==|>=|<)([\w.]+)", clause).groups()  # type: ignore[union-attr]
        fits = {
            "==": version.partition("+")[0] == bound,
            ">=": _release(version) >= _release(bound),
            "<": _release(version) < _release(bound),
        }
        if not fits[operator]:
            return False
    return True


def _release(version: str) -> tuple[int, ...]:
    numbers = re.match(r"\d+(\.\d+)*", version)
    return tuple(map(int, numbers[0].split("."))) if numbers else ()


def _pinned_otherwise(framework: str, specifier: str) -> list[str]:
    """Return the installed packages that require one other version of the framework."""
    names = set()
    for package in metadata.distributions():
        pins = {_specifier(requirement, framework) for requirement in package.requires or ()}
        if any(pin.startswith("==") and pin != specifier for pin in pins):
            names.add(package.name)
    return sorted(names)
