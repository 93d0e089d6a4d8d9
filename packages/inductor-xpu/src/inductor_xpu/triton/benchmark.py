"""Measurements for autotuning, by a wall clock: events of the CPU device tell when kernels began."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch

# Calls whose times are one sample: so long that reading the clock and waiting cost little, in milliseconds.
_SAMPLE_MS = 0.5
# The samples of one measurement.
_MIN_SAMPLES, _MAX_SAMPLES = 3, 50
# Memory that is written to empty the caches between the samples of triton.testing.do_bench().
_GPU_CACHE_BYTES, _CPU_CACHE_BYTES = 256 << 20, 32 << 20


def measure(
    call: Callable[[], Any],
    warmup: float = 10,
    rep: float = 40,
    grad_to_none: Iterable[torch.Tensor] | None = None,
    quantiles: Sequence[float] | None = None,
    return_mode: str = "mean",
) -> float | Sequence[float]:
    """Return the milliseconds of a call on the current stream: its quantiles, or what ``return_mode`` names.

    ``warmup`` and ``rep`` are milliseconds. Gradients of ``grad_to_none`` are dropped before each sample.
    """
    from triton.testing import _summarize_statistics

    stream = torch.xpu.current_stream()

    def sample(calls: int) -> float:
        for tensor in grad_to_none or ():
            tensor.grad = None
        stream.synchronize()
        begin = time.perf_counter()
        for _ in range(calls):
            call()
        stream.synchronize()
        return (time.perf_counter() - begin) * 1e3 / calls

    call()  # builds the kernel
    estimate = max(sample(1), 1e-3)
    for _ in range(min(3, int(warmup / estimate))):
        estimate = max(min(estimate, sample(1)), 1e-3)
    calls = max(1, int(_SAMPLE_MS / estimate))
    count = min(max(_MIN_SAMPLES, int(rep / (estimate * calls))), _MAX_SAMPLES)
    times = [sample(calls) for _ in range(count)]
    return _summarize_statistics(times, quantiles, return_mode)  # type: ignore[no-any-return]


def empty_cache() -> torch.Tensor:
    """Return memory of the current device that is larger than its caches."""
    is_gpu = torch.xpu.get_device_properties().type == "gpu"
    size = _GPU_CACHE_BYTES if is_gpu else _CPU_CACHE_BYTES
    return torch.empty(size // 4, dtype=torch.int32, device="xpu")


def clear_cache(memory: torch.Tensor) -> None:
    """Write memory of empty_cache(), so that a kernel finds nothing of its data in the caches."""
    memory.zero_()
