"""The functions behind ``torch.xpu.memory.XPUPluggableAllocator``."""

from __future__ import annotations

from . import _bridge


class XPUAllocator:
    """Two C functions, by address, that give and take device memory; without them, the common pool."""

    def __init__(self, allocate: int = 0, free: int = 0) -> None:
        self.functions = (allocate, free)

    def __repr__(self) -> str:
        where = "functions at {:#x} and {:#x}".format(*self.functions)
        return f"XPUAllocator({where if self.functions[0] else 'the common pool'})"


_current = XPUAllocator()


def change(allocator: XPUAllocator) -> None:
    """Let every tensor's memory come from the allocator; raise once memory was allocated."""
    global _current
    _bridge.change_allocator(*allocator.functions)
    _current = allocator


def current() -> XPUAllocator:
    """Return the allocator of the last :func:`change`; before one, that of the runtime's pool."""
    return _current
