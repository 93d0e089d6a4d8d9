"""The error of a kernel that needs more than its device has; autotuning passes over it."""

from __future__ import annotations

from triton.runtime.errors import OutOfResources


class KernelOutOfResources(OutOfResources):  # type: ignore[misc]
    """Triton's error with the runtime's message, which has the numbers."""

    def __init__(self, message: str) -> None:
        super().__init__(None, None, message)

    def __str__(self) -> str:
        return str(self.name)

    def __reduce__(self) -> tuple[type[KernelOutOfResources], tuple[str]]:
        return type(self), (self.name,)
