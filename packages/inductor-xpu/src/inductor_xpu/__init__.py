"""torch.compile and Triton on xpu: Inductor's loops, and kernels of @triton.jit, become SYCL kernels.

Importing this imports no torch: Triton imports the backend in ``triton/`` while it is imported.
"""

from __future__ import annotations

__all__ = ["fallbacks"]


def fallbacks() -> dict[str, int]:
    """Return how often each operator was compiled unfused, as plain operators, since the start."""
    from .flex_attention import plain

    return plain.fallbacks()
