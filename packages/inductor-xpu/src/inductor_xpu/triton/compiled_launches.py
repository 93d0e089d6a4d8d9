"""Launches in compiled code: one function for each kernel that Inductor has tuned."""

from __future__ import annotations

import math
from typing import Any

import torch
import xpu_runtime as xr
from torch._inductor.runtime import triton_heuristics
from torch.autograd import profiler
from torch.utils._debug_mode import _mode as debug_mode
from triton import knobs

from .argument_types import arguments
from .loading import LoadedKernel

# The parameters are those of Inductor's launcher. Where a profile, a mode or a hook is to see a launch, or it
# fails, Inductor's own method makes it.
_TEXT = """
def run({parameters}, *, stream, benchmark_run=False):
    if (
        _profiler._is_profiler_enabled
        or _debug_mode._ACTIVE_DEBUG_MODE_COUNT
        or _entered
        or _exited
        or benchmark_run
        or _tuner._cached_launcher is None
    ):
        return _stock({parameters}, stream=stream, benchmark_run=benchmark_run)
{prefix}
    grid_0, grid_1, grid_2 = {grid}
    try:
        if grid_0 > 0 and grid_1 > 0 and grid_2 > 0:
            _call((grid_2, grid_1, grid_0 * {group}), (1, 1, {group}){values}, stream=stream)
    except _UsageError:
        _stock({parameters}, stream=stream)
"""


def replace_run(tuner: Any, launcher: Any) -> None:
    """Let a tuned kernel of Inductor's be launched by one function, if it has one configuration left."""
    if type(tuner) is not triton_heuristics.CachingAutotuner:
        return
    found = [result for result in tuner.compile_results if result.config is launcher.config]
    if len(found) != 1 or not isinstance(getattr(found[0].kernel, "function", None), LoadedKernel):
        return
    (result,) = found
    binary = result.kernel
    function = binary.src.fn
    constants = triton_heuristics.get_constexprs(function)
    given, parameters, _ = result._get_arg_lists(function.arg_names, constants)
    grid = triton_heuristics.GridExpr.from_meta(result.inductor_meta, result.config)
    hooks = knobs.runtime.launch_enter_hook, knobs.runtime.launch_exit_hook
    scope = {
        "grid_meta": result.config.kwargs,
        "math": math,
        "torch": torch,
        "_call": binary.function.launcher,
        "_debug_mode": debug_mode,
        "_entered": getattr(hooks[0], "calls", (hooks[0],)),
        "_exited": getattr(hooks[1], "calls", (hooks[1],)),
        "_profiler": profiler,
        "_stock": tuner.run,
        "_tuner": tuner,
        "_UsageError": xr.UsageError,
    }
    passed = [given[int(name[1:])] for name, _ in arguments(binary.src.signature)]
    values = [*passed, *map(str, binary.function.faults)]
    text = _TEXT.format(
        parameters=", ".join(parameters),
        prefix="\n".join(f"    {line}" for line in grid.prefix),
        grid=f"{grid.x_grid}, {grid.y_grid}, {grid.z_grid}",
        group=binary.metadata.group,
        values="".join(f", {value}" for value in values),
    )
    exec(compile(text, f"<launch of {binary.metadata.name}>", "exec"), scope)
    tuner.run = scope["run"]
