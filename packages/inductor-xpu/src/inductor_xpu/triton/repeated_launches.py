"""Launches of kernels that were launched before: what Triton's own function does, in less time.

Triton's function makes texts and objects for hooks at each launch. Where types and options of arguments are
those of an earlier launch and no hook is set, the kernel is found by them. All other launches are Triton's.
"""

from __future__ import annotations

from functools import wraps
from typing import Any

from triton import knobs
from triton.compiler import CompiledKernel
from triton.runtime import driver
from triton.runtime.jit import JITFunction

_ATTRIBUTE = "_xpu_repeated_launches"
_MISSING = object()


def speed_up() -> None:
    """Replace the method of Triton's functions in this process, once."""
    if not hasattr(JITFunction.run, _ATTRIBUTE):
        run = _quick(JITFunction.run)
        setattr(run, _ATTRIBUTE, True)
        JITFunction.run = run


class _Kernels(dict[Any, CompiledKernel]):
    """Kernels of one function on one device, as long as Triton's ``cache`` has all that it had."""

    def __init__(self, cache: dict[Any, Any]) -> None:
        self.cache, self.count = cache, 0

    def is_valid(self, cache: dict[Any, Any]) -> bool:
        return cache is self.cache and len(cache) >= self.count


def _quick(stock: Any) -> Any:
    @wraps(stock)
    def run(self: Any, *args: Any, grid: Any, warmup: bool, **options: Any) -> Any:
        active, runtime = driver.active, knobs.runtime
        enter, exit = runtime.launch_enter_hook, runtime.launch_exit_hook
        device = active.get_current_device()
        caches = self.device_caches.get(device)
        if (
            warmup
            or caches is None
            or self.pre_run_hooks
            or runtime.add_stages_inspection_hook is not None
            or getattr(enter, "calls", True)
            or getattr(exit, "calls", True)
        ):
            return stock(self, *args, grid=grid, warmup=warmup, **options)
        cache, binder = caches[0], caches[4]
        bound, types, rest = binder(*args, **options)
        debug = options.get("debug", self.debug) or runtime.debug
        key = (*types, debug, knobs.compilation.instrumentation_mode, *rest.items())
        kernels = self.__dict__.get(_ATTRIBUTE)
        if kernels is None:
            kernels = self.__dict__[_ATTRIBUTE] = {}
        known = kernels.get(device)
        if known is None or not known.is_valid(cache):
            known = kernels[device] = _Kernels(cache)
        try:
            kernel = known.get(key)
        except TypeError:  # an option that cannot be hashed
            return stock(self, *args, grid=grid, warmup=warmup, **options)
        if kernel is None:
            kernel = stock(self, *args, grid=grid, warmup=warmup, **options)
            if type(kernel) is CompiledKernel and kernel._run is not None:
                known[key], known.count = kernel, len(cache)
            return kernel
        for (name, _), (value, scope) in self.used_global_vals.items():
            if scope.get(name, _MISSING) != value:
                return stock(self, *args, grid=grid, warmup=warmup, **options)
        if callable(grid):
            grid = grid(bound)
        size = len(grid)
        kernel._run(
            grid[0],
            grid[1] if size > 1 else 1,
            grid[2] if size > 2 else 1,
            active.get_current_stream(device),
            kernel.function,
            (),
            None,
            None,
            None,
            *bound.values(),
        )
        return kernel

    return run
