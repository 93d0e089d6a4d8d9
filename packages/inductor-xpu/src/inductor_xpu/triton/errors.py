"""What is raised for a kernel that cannot be translated."""

from __future__ import annotations

from .ir.locations import Location


class UnsupportedKernelError(Exception):
    """A kernel that cannot be translated: the operation, the user's line, the reason and what to do."""

    def __init__(self, operation: str, reason: str, location: Location | None = None) -> None:
        self.operation, self.reason, self.location = operation, reason, location
        where = f"{location}: " if location else ""
        super().__init__(f"{where}{operation}: {reason}")

    def __reduce__(self) -> tuple[type[UnsupportedKernelError], tuple[object, ...]]:
        """Return how Inductor's worker processes send it."""
        return type(self), (self.operation, self.reason, self.location)
