"""Registration of xpu as a back end of Inductor's."""

from __future__ import annotations

import functools
from typing import Any


@functools.cache
def register() -> None:
    """Register the scheduling and the wrappers, unless a program has registered its own."""
    from torch._inductor.codegen import common
    from torch._inductor.codegen.wrapper import PythonWrapperCodegen
    from torch._inductor.codegen.wrapper_fxir import WrapperFxCodegen
    from torch._inductor.select_algorithm import add_preprocessing_fn

    from .ahead.wrapper import CppWrapperXpu
    from .cache_key import cache_key
    from .decompositions import register_whole_operators
    from .device_operations import register_device_operations
    from .extremes import register_extremes
    from .flex_attention.lowering import register_lowerings
    from .fusions.operators import register_operators
    from .fusions.post_ops import PostOpFusion
    from .tuning import fewer_templates

    register_operators()
    register_whole_operators()
    register_extremes()
    register_lowerings()
    register_device_operations()
    add_preprocessing_fn(fewer_templates)
    if common.get_scheduling_for_device("xpu") is None:
        common.register_backend_for_device(
            "xpu",
            make_scheduling,
            PythonWrapperCodegen,
            CppWrapperXpu,
            WrapperFxCodegen,
            PostOpFusion(),
            cache_key(),
        )


def make_scheduling(scheduler: Any) -> Any:
    """Return the scheduling that the settings choose; Triton is imported only where it writes kernels."""
    from . import triton_use
    from .scheduling import Scheduling

    if triton_use.writes_loops():
        from .triton_scheduling import TritonLoops

        return TritonLoops(scheduler)
    if triton_use.writes_templates():
        from .triton_scheduling import LoopsAndTemplates

        return LoopsAndTemplates(scheduler)
    return Scheduling(scheduler)
