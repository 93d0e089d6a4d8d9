"""Settings of Inductor's on xpu: graphs are captured, products are tuned with Triton."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Mapping
from operator import attrgetter
from typing import Any

from torch_xpu.torch_version import RELEASE

from . import triton_use

# What measures or joins Triton's kernels of loops. PyTorch 2.15 has another name for the second.
OF_LOOPS = (
    "benchmark_combo_kernel",
    "benchmark_epilogue_fusion" if RELEASE < (2, 15) else "benchmark_template_fusion",
    "benchmark_fusion",
    "combo_kernels",
    "max_autotune_pointwise",
    "coordinate_descent_tuning",
)
# The candidates for convolutions: oneDNN's alone.
_CONVOLUTIONS = (
    "max_autotune_conv_backends",
    "max_autotune_conv_bwd_weight_backends",
    "max_autotune_conv_bwd_input_backends",
)
# Reductions of several programs, which wait for each other. They would also change the features of devices.
_NEVER = ("triton.cooperative_reductions", "triton.force_cooperative_reductions")


def supported_settings(patches: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return the settings of a compilation without those that have no effect; warn if tuning was on.

    Where Inductor is to capture graphs, it does so by the policy of graphs.py.
    """
    from torch._inductor import config
    from torch._inductor.virtualized import V

    unsupported = () if triton_use.writes_loops() else OF_LOOPS
    tuning = () if triton_use.is_installed() else triton_use.TUNING
    others = (
        "cpp_wrapper",
        "triton.cudagraphs",
        "align_random_eager",
        "fallback_random",
        *_CONVOLUTIONS,
    )
    names = (*unsupported, *tuning, *_NEVER, *others)
    asked = {name: attrgetter(name)(config) for name in names} | dict(patches or {})
    on = tuple(name for name in (*unsupported, *tuning) if asked[name])
    changed: dict[str, Any] = dict.fromkeys(on, False)
    changed |= {name: False for name in _NEVER if asked[name]}
    if any(asked[name] for name in tuning):
        _warn_of_tuning()
    if triton_use.writes_templates(patches):
        changed |= {name: "ATEN" for name in _CONVOLUTIONS if asked[name] != "ATEN"}
    draws = asked["align_random_eager"] and not asked["fallback_random"]
    if triton_use.writes_loops() and draws:
        changed["fallback_random"] = True  # Triton's kernels draw other numbers
    ahead = config.aot_inductor
    if V.aot_compilation or asked["cpp_wrapper"]:
        from .ahead.operators import with_functions

        functions = with_functions(ahead.custom_ops_to_c_shims)
        if functions != ahead.custom_ops_to_c_shims:
            changed["aot_inductor.custom_ops_to_c_shims"] = functions
    are_beside = ahead.package_constants_on_disk_format == "binary_blob"
    if V.aot_compilation and not (are_beside or ahead.force_mmap_weights):
        changed["aot_inductor.force_mmap_weights"] = True  # else they become text that g++ compiles
    if asked["triton.cudagraphs"] and config.cudagraph_policy is None:
        from .graphs import GraphPolicy

        changed["cudagraph_policy"] = GraphPolicy()
    if not changed:
        return None if patches is None else dict(patches)
    return dict(patches or {}) | changed


def require_loops(patches: Mapping[str, Any] | None) -> None:
    """Raise NotImplementedError if a graph is to become C++ code with kernels that Triton writes."""
    from torch._inductor import config
    from torch._inductor.virtualized import V

    asked = {name: getattr(config, name) for name in ("cpp_wrapper", "fx_wrapper")}
    asked |= dict(patches or {})
    in_cpp = asked["cpp_wrapper"] or (V.aot_compilation and not asked["fx_wrapper"])
    if in_cpp and (triton_use.writes_loops() or triton_use.writes_templates(patches)):
        raise NotImplementedError(
            "torch._inductor: on xpu, kernels that Triton writes cannot be called from C++ code, so neither "
            "packages nor cpp_wrapper take them. Use inductor_xpu.settings.reader = 'loops', and no "
            "max_autotune."
        )


@functools.cache
def _warn_of_tuning() -> None:
    warnings.warn(
        "torch.compile: on xpu, products are tuned where Triton is installed, whose templates compete with "
        f"oneDNN: {triton_use.EXTRA}. Without it, max-autotune runs as the mode without tuning.",
        stacklevel=2,
    )
