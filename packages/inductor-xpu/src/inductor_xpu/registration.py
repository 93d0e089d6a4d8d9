"""Registration of xpu as a back end of Inductor's."""

from __future__ import annotations

import functools


@functools.cache
def register() -> None:
    """Register the scheduling and the wrappers, unless a program has registered its own."""
    from torch._inductor.codegen import common
    from torch._inductor.codegen.wrapper import PythonWrapperCodegen
    from torch._inductor.codegen.wrapper_fxir import WrapperFxCodegen

    from .cache_key import cache_key
    from .decompositions import register_whole_operators
    from .extremes import register_extremes
    from .flex_attention.lowering import register_lowerings
    from .fusions.operators import register_operators
    from .fusions.post_ops import PostOpFusion
    from .scheduling import Scheduling

    register_operators()
    register_whole_operators()
    register_extremes()
    register_lowerings()
    if common.get_scheduling_for_device("xpu") is None:
        common.register_backend_for_device(
            "xpu",
            Scheduling,
            PythonWrapperCodegen,
            None,
            WrapperFxCodegen,
            PostOpFusion(),
            cache_key(),
        )
