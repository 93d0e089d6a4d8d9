"""What is changed in PyTorch where it uses Triton: workers, streams, launches, tuning. See patches.py."""

from __future__ import annotations

import functools
import inspect
from typing import Any

from .patch import Patch


def _use_workers(stock: Any) -> Any:
    from .workers import unless_prevented

    return staticmethod(unless_prevented(stock))


def _warm_pool(stock: Any) -> Any:
    from .workers import only_for_cuda

    return only_for_cuda(stock)


def _raw_stream(stock: Any) -> Any:
    def get_raw_stream(device: int) -> int:
        from torch_xpu.compiled_code import current_stream

        return current_stream(device)

    return staticmethod(get_raw_stream)


def _falls_back(stock: Any) -> Any:
    @functools.wraps(stock)
    def needs_fallback_due_to_atomic_add_limitations(dtype: Any) -> bool:
        from . import triton_use

        # Triton adds no integers of one or two bytes atomically. Loops of our own do.
        narrow = not dtype.is_floating_point and dtype.itemsize < 4
        return bool(stock(dtype)) or (narrow and triton_use.writes_loops())

    return needs_fallback_due_to_atomic_add_limitations


def _tuned_loops(stock: Any) -> Any:
    signature = inspect.signature(stock)

    @functools.wraps(stock)
    def cached_autotune(*args: Any, **named: Any) -> Any:
        from .tuning import suitable_configs

        bound = signature.bind(*args, **named)
        given = bound.arguments
        if not given.get("custom_kernel"):
            device, kind = given["triton_meta"]["device"], given["heuristic_type"]
            least = (given.get("inductor_meta") or {}).get("tma_min_block_sizes")
            given["configs"] = suitable_configs(
                given["configs"], device, kind, given["size_hints"], least
            )
        return stock(*bound.args, **bound.kwargs)

    return cached_autotune


def _fast_launcher(stock: Any) -> Any:
    @functools.wraps(stock)
    def _build_fast_launcher(self: Any, launcher: Any) -> Any:
        if self.device_props.type != "xpu":
            return stock(self, launcher)
        from .triton.compiled_launches import replace_run

        replace_run(self, launcher)
        return None

    return _build_fast_launcher


def _log_results(stock: Any) -> Any:
    from .tuning import reported

    return staticmethod(reported(stock))


def _pads_products(stock: Any) -> Any:
    @functools.wraps(stock)
    def check_device(a: Any, b: Any) -> bool:
        return not a.is_xpu and stock(a, b)

    return check_device


TRITON_PATCHES = (
    Patch(
        "torch._dynamo.device_interface",
        "XpuInterface.get_raw_stream",
        "returns a SYCL queue, through which all later work would go; launches take handles of streams",
        _raw_stream,
    ),
    Patch(
        "torch._inductor.async_compile",
        "AsyncCompile.use_process_pool",
        "starts processes that import torch and compile Triton for every graph with inputs on xpu",
        _use_workers,
    ),
    Patch(
        "torch._inductor.async_compile",
        "maybe_warm_pool",
        "starts these processes before the first graph, wherever Triton is installed",
        _warm_pool,
    ),
    Patch(
        "torch._inductor.fx_passes.pad_mm",
        "check_device",
        "measures, where Triton is installed, whether padded products are faster; oneDNN needs no padding",
        _pads_products,
    ),
    Patch(
        "torch._inductor.runtime.triton_heuristics",
        "cached_autotune",
        "compiles and measures configurations that are the same on the CPU device, or slow",
        _tuned_loops,
    ),
    Patch(
        "torch._inductor.runtime.triton_heuristics",
        "CachingAutotuner._build_fast_launcher",
        "launches by three functions of Python, one in the other",
        _fast_launcher,
    ),
    Patch(
        "torch._inductor.runtime.triton_heuristics",
        "XPU_KERNEL_FORMAT",
        "expects Level Zero's binaries of Triton, and launches them without the driver",
        lambda stock: "spv",
    ),
    Patch(
        "torch._inductor.decomposition",
        "needs_fallback_due_to_atomic_add_limitations",
        "lets Triton add narrow integers atomically, which it rejects",
        _falls_back,
    ),
    Patch(
        "torch._inductor.lowering",
        "needs_fallback_due_to_atomic_add_limitations",
        "lets Triton add narrow integers atomically, which it rejects",
        _falls_back,
    ),
    Patch(
        "torch._inductor.select_algorithm",
        "AlgorithmSelectorCache.log_results",
        "prints a table of all candidates for each product",
        _log_results,
    ),
)
