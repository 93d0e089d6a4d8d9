"""Devices: Intel GPUs where there are any, otherwise the SYCL CPU device."""

from __future__ import annotations

from typing import Any

from ._native import C


class Device:
    """A device of this process with its driver's properties: name, total_memory, fp64, ..."""

    def __init__(self, index: int) -> None:
        self.index = index
        self._info = C.device_info(index)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._info, name)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.properties()]

    def properties(self) -> dict[str, Any]:
        """Return every property by name."""
        names = (n for n in dir(type(self._info)) if not n.startswith("_"))
        return {n: getattr(self._info, n) for n in names}

    def memory(self) -> tuple[int, int]:
        """Return bytes free and in all."""
        return C.memory_info(self.index)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and other.index == self.index

    def __hash__(self) -> int:
        return self.index

    def __repr__(self) -> str:
        return f"<xpu:{self.index} {self.name} ({self.backend})>"


class device:  # noqa: N801 - used as a function: `with xr.device(1)`, as in PyTorch
    """Sets the thread's device for the length of a `with` block."""

    def __init__(self, index: int | Device) -> None:
        self._index = index.index if isinstance(index, Device) else index
        self._before = -1

    def __enter__(self) -> device:
        self._before = C.current_device()
        C.set_device(self._index)
        return self

    def __exit__(self, *_: object) -> None:
        C.exchange_device(self._before)


def device_count() -> int:
    """Return how many devices this process may use; 0 when there is none."""
    return C.device_count()


def devices() -> list[Device]:
    """Return all devices of this process."""
    return [Device(i) for i in range(C.device_count())]


def current_device() -> int:
    """Return the calling thread's device."""
    return C.current_device()


def set_device(index: int) -> None:
    """Make it the calling thread's device."""
    C.set_device(index)


def synchronize(index: int | None = None) -> None:
    """Wait for every stream of the device, the current one by default; raise for work that failed."""
    C.synchronize(C.current_device() if index is None else index)
