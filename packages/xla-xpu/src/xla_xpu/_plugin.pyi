from collections.abc import Sequence
from typing import Any

abi: int
"""The runtime ABI against which the plugin was compiled."""

def is_drained() -> bool:
    """Return True if every callback that JAX waits for has run. Never blocks."""

def host_calls() -> dict[str, int]:
    """Return how often programs called each host function, by name."""

def order_after_producer(address: int, stream: int) -> None:
    """Let work on the stream with this handle run after the producer of the array at this address."""

def to_dlpack(
    pointer: int, shape: Sequence[int], code: int, bits: int, device_type: int, device: int
) -> Any:
    """Return a DLPack capsule that shares and keeps alive the memory of the array at address ``pointer``."""

def to_unowned_dlpack(pointer: int, shape: Sequence[int], code: int, bits: int, device: int) -> Any:
    """Return a DLPack capsule of device memory that the capsule does not keep alive."""

def copy(device: int, to: int, source: int, bytes: int) -> None:
    """Copy between two addresses on the thread's current stream, and block until the copy has completed."""

class Value:
    """A parameter or an output of a program; ``type`` is the number of a PJRT_Buffer_Type."""

    def __init__(
        self,
        type: int,
        dims: Sequence[int],
        memory_kind: str = ...,
        sharding: bytes = ...,
        order: Sequence[int] = ...,
    ) -> None: ...

class Program:
    """A plan in the form that the plugin runs."""

    def __init__(
        self, buffers: list[Any], temporary_bytes: int, constants: bytes, steps: list[Any]
    ) -> None: ...

class Executable:
    """A compiled program and its properties."""

    def __init__(self, **properties: Any) -> None: ...
