"""Framework adapters, found by entry point and never imported by name.

An adapter's wheel declares, in the group ``xpu_sdk.adapters``, a callable without arguments that returns
a mapping with ``version``, ``framework`` (what it adapts, with the version found) and ``abi`` (the
``XPU_RUNTIME_ABI`` it was compiled against; left out by an adapter without compiled code). An adapter that
stands aside adds ``problem`` and ``fix``: why, and the command that changes it. It must not touch a device.

It may also declare checks for ``xpu-sdk doctor`` in the group ``xpu_sdk.checks``, named by what is checked:
callables without arguments that use a device, return a line about what they found, and raise on a failure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points

GROUP = "xpu_sdk.adapters"
CHECKS = "xpu_sdk.checks"


@dataclass(frozen=True)
class Adapter:
    """An installed adapter; ``error`` says why it cannot be used."""

    name: str
    wheel: str
    about: Mapping[str, object] | None
    error: str | None = None


def installed() -> list[Adapter]:
    """Return every adapter that has an entry point."""
    found = []
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        wheel = entry.dist.name if entry.dist else entry.value
        try:
            found.append(Adapter(entry.name, wheel, dict(entry.load()())))
        except Exception as error:  # noqa: BLE001 - whatever a foreign package does is what we report
            found.append(Adapter(entry.name, wheel, None, f"{type(error).__name__}: {error}"))
    return found


def check_names() -> list[str]:
    """Return the names of the checks of adapters that can be used."""
    unusable = {a.wheel for a in installed() if a.about is None or "problem" in a.about}
    entries = entry_points(group=CHECKS)
    return sorted(e.name for e in entries if e.dist is None or e.dist.name not in unusable)
