"""The adapter's check for ``xpu-sdk doctor``."""

from __future__ import annotations

import time


def check() -> str:
    """Compile a function, run it, compare it with the CPU; return how long the first call took."""
    import torch

    def normalize(x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.softmax(x * 2 + 1, -1)

    x = torch.arange(60.0).reshape(3, 20)
    begin = time.perf_counter()
    got = torch.compile(normalize)(x.to("xpu")).cpu()
    seconds = time.perf_counter() - begin
    torch.testing.assert_close(got, normalize(x))
    return f"right values; the first call took {seconds:.1f} s"
