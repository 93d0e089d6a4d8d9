"""Fourier transforms of 4M numbers in lines of several lengths, beside PyTorch's CPU."""

from __future__ import annotations

import os
from collections.abc import Iterator

from xpu_bench import Case, Pair

TOTAL = 1 << 22


def case(name: str, n: int, dtype: str, bar: str | None, real: bool = False) -> Case:
    def setup() -> Pair:
        import torch

        import xpu_runtime as xr

        torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "2")))
        shape = (TOTAL // n, n)
        host = torch.rand(shape, dtype={"c64": torch.complex64, "c128": torch.complex128}[dtype])
        host = host.real.contiguous() if real else host
        transform = torch.fft.rfft if real else torch.fft.fft
        x, out = (
            xr.from_numpy(host.numpy()),
            xr.empty((TOTAL // n, n // 2 + 1 if real else n), dtype),
        )
        return Pair(
            ours=lambda: xr.kernels.fft(out, x),
            peer=lambda: transform(host),
            sync=xr.synchronize,
        )

    return Case(name, setup, peer_name="torch", bar=bar)


def cases() -> Iterator[Case]:
    for n in (64, 1000, 1024, 4096, 8192, 65536, 1 << 20):
        yield case(f"fft c64 {TOTAL // n}x{n}", n, "c64", ">= 1.0")
    yield case(f"fft c128 {TOTAL // 1024}x1024", 1024, "c128", ">= 1.0")
    yield case(f"rfft f32 {TOTAL // 1024}x1024", 1024, "c64", ">= 1.0", real=True)
    yield case(f"fft c64 {TOTAL // 1009}x1009, a prime", 1009, "c64", None)
