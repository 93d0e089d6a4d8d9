"""Settings of Inductor's on xpu: graphs are captured, tuning modes run as the default one, packages fail."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Mapping
from operator import attrgetter
from typing import Any

# What the mode "max-autotune" sets, and what measures or joins Triton kernels.
UNSUPPORTED = (
    "benchmark_combo_kernel",
    "benchmark_fusion",
    "combo_kernels",
    "max_autotune",
    "max_autotune_pointwise",
    "max_autotune_gemm",
    "coordinate_descent_tuning",
)


def supported_settings(patches: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return the settings of a compilation without the unsupported ones, and warn if one was on.

    Where Inductor is to capture graphs, it does so by the policy of graphs.py.
    """
    from torch._inductor import config

    names = (*UNSUPPORTED, "triton.cudagraphs")
    asked = {name: attrgetter(name)(config) for name in names} | dict(patches or {})
    on = tuple(name for name in UNSUPPORTED if asked[name])
    changed: dict[str, Any] = dict.fromkeys(on, False)
    if on:
        _warn(on)
    if asked["triton.cudagraphs"] and config.cudagraph_policy is None:
        from .graphs import GraphPolicy

        changed["cudagraph_policy"] = GraphPolicy()
    if not changed:
        return None if patches is None else dict(patches)
    return dict(patches or {}) | changed


def reject_packages(patches: Mapping[str, Any] | None) -> None:
    """Raise NotImplementedError if the graph is to become C++ code, as packages of AOTInductor do."""
    from torch._inductor import config
    from torch._inductor.virtualized import V

    asked = {name: getattr(config, name) for name in ("cpp_wrapper", "fx_wrapper")}
    asked |= dict(patches or {})
    if asked["cpp_wrapper"] or (V.aot_compilation and not asked["fx_wrapper"]):
        raise NotImplementedError(
            "torch._inductor: a graph with tensors on xpu cannot become C++ code yet, so no package can be "
            "made of it, and cpp_wrapper is not supported. Save the model with torch.export.save(), or "
            "compile it for the CPU."
        )


@functools.cache
def _warn(settings: tuple[str, ...]) -> None:
    warnings.warn(
        "torch.compile: graphs with tensors on xpu are compiled without tuning, "
        f"since xpu does not support {', '.join(settings)} yet.",
        stacklevel=2,
    )
