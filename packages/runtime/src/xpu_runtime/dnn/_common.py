"""Operands and options that dnn functions share, and the choices made for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from .._native import C
from ..array import Array
from ..codegen.elements import DTYPES
from ..errors import UsageError

_PACKED = tuple(element.name for element in DTYPES if element.packed)


class PackedArray:
    """An array of "u4", "i4" or "f4" (e2m1): two elements in a byte of a "u8" array, the low half first."""

    def __init__(
        self, data: Array, dtype: str, shape: Sequence[int], strides: Sequence[int] | None = None
    ) -> None:
        if dtype not in _PACKED:
            raise UsageError(f"dtype: got {dtype!r}, expected one of {', '.join(_PACKED)}")
        self.data, self.dtype, self.shape = data, dtype, tuple(shape)
        steps = [1]
        for size in reversed(self.shape[1:]):
            steps.insert(0, steps[0] * size)
        self.strides = tuple(strides) if strides is not None else tuple(steps[: len(self.shape)])
        last = sum((n - 1) * s for n, s in zip(self.shape, self.strides, strict=True))
        if any(s < 0 for s in self.strides) or (last + 2) // 2 > data.nbytes:
            raise UsageError(
                f"packed array of shape {self.shape} and strides {self.strides}: "
                f"{data.nbytes} bytes are too few"
            )

    @property
    def pointer(self) -> int:
        """Address of the first pair."""
        return self.data.pointer

    @cached_property
    def _tensor(self) -> Any:
        return C.Tensor(self.pointer, self.dtype, self.shape, self.strides, self.device)

    @property
    def device(self) -> int:
        """Where the memory is."""
        return self.data.device


Operand = Array | PackedArray


@dataclass(frozen=True)
class PostOp:
    """A step applied to the result: "relu", "gelu_erf", "add", "mul", "sum", ... See xpu/dnn/attributes.h."""

    kind: str
    alpha: float = 0.0
    beta: float = 0.0
    operand: Array | None = None


@dataclass(frozen=True)
class Quantization:
    """What an operand's numbers stand for: scale * (number - zero_point) + offset.

    No dimension means one value for all; otherwise as many dimensions as the operand, each of
    size 1, the operand's, or a divisor of it (elements that share one).
    """

    scale: Array | None = None
    zero_point: Operand | None = None
    offset: Array | None = None


class CacheStats(NamedTuple):
    """Of the cache of chosen primitives and kernels."""

    entries: int
    hits: int
    misses: int


def explain() -> list[str]:
    """Return the candidates of this thread's last call, in order, and what became of each."""
    return list(C.dnn_explain())


def onednn_matmul_unsupported_reason(device: int = 0) -> str:
    """Return the reason why oneDNN computes no matrix products on the device, or ""."""
    return str(C.dnn_onednn_matmul_unsupported_reason(device))


def cache_stats() -> CacheStats:
    """Return entries, hits and misses since the start or the last clear_cache()."""
    return CacheStats(*C.dnn_cache_stats())


def clear_cache() -> None:
    """Forget every choice made."""
    C.dnn_clear_cache()


@contextmanager
def only_candidate(name: str) -> Iterator[None]:
    """Within this block only the candidate of that name ("onednn", "sycl") is tried, on every thread."""
    before = C.dnn_forced_candidate()
    C.dnn_force_candidate(name)
    try:
        yield
    finally:
        C.dnn_force_candidate(before)
