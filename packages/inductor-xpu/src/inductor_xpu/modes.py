"""Modes of torch.compile: those whose settings have no effect on xpu yet run as the default mode."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Mapping
from operator import attrgetter
from typing import Any

# What the modes "reduce-overhead" and "max-autotune" set.
UNSUPPORTED = (
    "triton.cudagraphs",
    "max_autotune",
    "max_autotune_pointwise",
    "max_autotune_gemm",
    "coordinate_descent_tuning",
)


def use_default_mode(patches: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return the settings of a compilation without the unsupported ones, and warn if one was on."""
    from torch._inductor import config

    asked = {name: attrgetter(name)(config) for name in UNSUPPORTED} | dict(patches or {})
    on = tuple(name for name in UNSUPPORTED if asked[name])
    if not on:
        return None if patches is None else dict(patches)
    _warn(on)
    return dict(patches or {}) | dict.fromkeys(on, False)


@functools.cache
def _warn(settings: tuple[str, ...]) -> None:
    warnings.warn(
        "torch.compile: graphs with tensors on xpu are compiled as by mode='default', "
        f"since xpu does not support {', '.join(settings)} yet.",
        stacklevel=2,
    )
