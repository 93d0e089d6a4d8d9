from collections.abc import Sequence
from typing import Any

abi: int
"""The runtime ABI this was compiled against."""

def is_drained() -> bool:
    """Whether every callback that JAX waits for has been called."""

def expect_builds(device: int) -> None:
    """Several threads will want kernels soon: a helper that builds some of them may start meanwhile."""

def host_calls() -> dict[str, int]:
    """How often each function of the host was called by programs."""

def to_dlpack(
    pointer: int, shape: Sequence[int], code: int, bits: int, device_type: int, device: int
) -> Any:
    """A DLPack capsule that shares the memory of the array whose address ``pointer`` is."""

def to_unowned_dlpack(pointer: int, shape: Sequence[int], code: int, bits: int, device: int) -> Any:
    """A DLPack capsule of memory on a device that its owner takes back whatever becomes of the capsule."""

def copy(device: int, to: int, source: int, bytes: int) -> None:
    """Copies between two addresses in the turn of the thread's current stream, and waits for it."""

class Value:
    """An array as a program takes or gives it; ``type`` is PJRT's number."""

    def __init__(
        self,
        type: int,
        dims: Sequence[int],
        memory_kind: str = ...,
        sharding: bytes = ...,
        order: Sequence[int] = ...,
    ) -> None: ...

class Program:
    """A plan that can be run."""

    def __init__(
        self, buffers: list[Any], temporary_bytes: int, constants: bytes, steps: list[Any]
    ) -> None: ...

class Executable:
    """A program with all that PJRT asks about it."""

    def __init__(self, **what: Any) -> None: ...
