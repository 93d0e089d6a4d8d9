"""``torch.compile`` with Inductor, which has no way to make code for xpu without an adapter.

Graphs with tensors on xpu run uncompiled, with one warning; graphs of other devices are compiled as ever.
"""

from __future__ import annotations

import functools
import os
import warnings
from collections.abc import Sequence
from typing import Any

import torch

from . import import_hooks
from .graph_devices import uses_xpu

_MISSING = (
    "no adapter of Inductor's for xpu is installed (neither a scheduling registered for xpu "
    "nor Triton with a backend for Intel GPUs)"
)


def _adapted() -> bool:
    """Return True if Inductor can compile for xpu: by an adapter's scheduling, or by stock Triton."""
    from torch._inductor.codegen import common

    common.init_backend_registration()
    scheduling = common.get_scheduling_for_device("xpu")
    # Stock's own wants Triton.
    if scheduling is not None and not scheduling.__module__.startswith("torch."):
        return True
    try:
        from triton.backends import backends
    except ImportError:
        return False
    return "intel" in backends


@functools.cache
def _warn() -> None:
    warnings.warn(
        f"torch.compile: {_MISSING}. Graphs with tensors on xpu run uncompiled, as with backend='eager'.",
        stacklevel=2,
    )


def _with_uncompiled_xpu(compile_fx: Any) -> None:
    stock = compile_fx.compile_fx

    @functools.wraps(stock)
    def run_or_compile(
        model_: Any, example_inputs_: Sequence[Any], *args: Any, **named: Any
    ) -> Any:
        if not uses_xpu(model_, example_inputs_) or _adapted():
            return stock(model_, example_inputs_, *args, **named)
        if compile_fx.V.aot_compilation:
            raise NotImplementedError(
                f"torch._inductor: {_MISSING}, so that no package can be made of a model on xpu. "
                "Save it with torch.export.save(), or compile it for the CPU."
            )
        _warn()
        return model_.forward

    compile_fx.compile_fx = run_or_compile


def _with_flex_attention_of_the_cpu(flex_cpu: Any) -> None:
    """Allow flex attention on the CPU, which stock PyTorch rejects if there is an xpu."""
    flex_cpu.check_cpu_supported = lambda: (
        torch.cpu._is_avx2_supported() and os.getenv("ATEN_CPU_CAPABILITY") != "default"
    )


def install() -> None:
    """Register the changes, which are made when Inductor is imported."""
    import_hooks.change(
        {
            "torch._inductor.compile_fx": _with_uncompiled_xpu,
            "torch._inductor.kernel.flex.flex_cpu": _with_flex_attention_of_the_cpu,
        }
    )
