from collections.abc import Sequence
from typing import Any

abi: int
"""The runtime ABI this was compiled against."""

def drain() -> None:
    """Returns when every callback that JAX waits for has been called."""

def host_calls() -> dict[str, int]:
    """How often each function of the host was called by programs."""

def to_dlpack(
    pointer: int, shape: Sequence[int], code: int, bits: int, device_type: int, device: int
) -> Any:
    """A DLPack capsule that shares the memory of the array whose address ``pointer`` is."""
