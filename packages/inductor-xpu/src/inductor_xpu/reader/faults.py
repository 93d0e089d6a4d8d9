"""Checks inside kernels: what a kernel that finds a fault says (see the device library's fault.h)."""

from __future__ import annotations

from typing import NamedTuple


class Fault(NamedTuple):
    """An operation's name, and a text with {a} and {b} for two numbers, as the runtime's fault_code takes."""

    op: str
    text: str


# As eager's.
INDEX = Fault("index", "index {a} is out of range for a dimension of {b}")


def assertion(message: str) -> Fault:
    """Return the fault of an assertion about values."""
    return Fault("_assert_async", message)


class Faults:
    """The faults of one kernel, each with a parameter for its code, behind one for the device's record."""

    def __init__(self) -> None:
        self.codes: dict[Fault, str] = {}

    def code(self, fault: Fault) -> str:
        """Return the name of the parameter that has a fault's code."""
        return self.codes.setdefault(fault, f"code{len(self.codes)}")

    @property
    def parameters(self) -> tuple[str, ...]:
        """Declarations of the kernel's parameters."""
        if not self.codes:
            return ()
        return ("global<FaultRecord> record", *(f"u32 {name}" for name in self.codes.values()))

    @property
    def types(self) -> str:
        """The types of the parameters, as a Launcher takes them."""
        return "p" + "u4" * len(self.codes) if self.codes else ""

    @property
    def headers(self) -> tuple[str, ...]:
        """The headers that the checks need."""
        return ("fault",) if self.codes else ()
