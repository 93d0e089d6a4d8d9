"""What Triton is used for in a compilation, and whether it is installed."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from functools import cache
from typing import Any

# Settings of Inductor's that let it choose among implementations of products by measuring them.
TUNING = ("max_autotune", "max_autotune_gemm")
EXTRA = 'pip install "xpu-sdk[triton]"'


@cache
def is_installed() -> bool:
    """Return True if there is a package named triton; import none."""
    return importlib.util.find_spec("triton") is not None


def writes_loops() -> bool:
    """Return True if Inductor's loops become Triton kernels: ``settings.reader`` is "triton".

    Raises ImportError where Triton is not installed, and ValueError for a reader that there is not.
    """
    from . import settings

    if settings.reader == "loops":
        return False
    if settings.reader != "triton":
        raise ValueError(
            f'inductor_xpu.settings.reader: got {settings.reader!r}, expected "loops" or "triton"'
        )
    if not is_installed():
        raise ImportError(
            f'inductor_xpu.settings.reader is "triton", and Triton is not installed: {EXTRA}'
        )
    return True


def writes_templates(patches: Mapping[str, Any] | None = None) -> bool:
    """Return True if Inductor may choose Triton's templates: products are tuned, and Triton is installed.

    ``patches`` are settings of one compilation.
    """
    from torch._inductor import config

    asked = {name: getattr(config, name) for name in TUNING} | dict(patches or {})
    return any(asked[name] for name in TUNING) and is_installed()
