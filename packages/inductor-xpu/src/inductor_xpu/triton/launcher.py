"""Launches of one compiled kernel: a function that is written for its arguments."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import xpu_runtime as xr
from triton import knobs

from .argument_types import arguments
from .loading import accept_type
from .resources import KernelOutOfResources

# Triton gives the grid, the `function` of Utilities.load_binary(), hooks, and all arguments, constants too:
# a0, a1, ... as argument_types.arguments() names them. A range of work-items has the slowest dimension first.
# Triton's chains of hooks are called where they have any.
_TEXT = """
def launch(x, y, z, stream, function, packed, metadata, enter, exit{parameters}):
    if entered or enter is not enter_chain and enter is not None:
        enter(metadata)
    call = function.launcher or function.prepare({types!r}, {faults!r})
    try:
        if 0 < x <= max_programs and 0 < y <= max_programs and 0 < z <= max_programs:
            call((z, y, x * {group}), (1, 1, {group}){values}, stream=stream)
        elif x > 0 and y > 0 and z > 0:
            reject_grid(x, y, z)
    except UsageError as error:
        explain(error, ({sequence}))
        launch(x, y, z, stream, function, packed, metadata, None, None{parameters})
    if exited or exit is not exit_chain and exit is not None:
        exit(metadata)
"""
_ARGUMENT = re.compile(r"argument (\d+)")
# The numbers of programs have 32 bits.
_MAX_PROGRAMS = (1 << 31) - 1
# A type of the runtime's launcher.
_TYPE = re.compile(r"bf2|p|[biuf]\d|s\d+")


class Launcher:
    """Makes the function that launches a kernel."""

    def __new__(cls, source: Any, metadata: Any) -> Any:
        """Return the function; raise NotImplementedError for types of arguments that xpu cannot pass."""
        passed = list(arguments(source.signature))
        types = "".join(type for _, type in passed)
        faults = tuple(tuple(fault) for fault in metadata.faults)
        parameters = "".join(f", a{number}" for number in range(len(source.signature)))
        values = "".join(f", {expression}" for expression, _ in passed)
        text = _TEXT.format(
            parameters=parameters,
            types=types + "".join(_TYPE.findall(metadata.types)[len(passed) :]),
            faults=faults,
            group=metadata.group,
            values=values + (", *function.faults" if faults else ""),
            sequence=values.removeprefix(", ") + ("," if len(passed) == 1 else ""),
        )
        names = [expression for expression, _ in passed]
        hooks = knobs.runtime.launch_enter_hook, knobs.runtime.launch_exit_hook
        scope: dict[str, Any] = {
            "enter_chain": hooks[0],
            "exit_chain": hooks[1],
            "entered": getattr(hooks[0], "calls", ()),
            "exited": getattr(hooks[1], "calls", ()),
            "UsageError": xr.UsageError,
            "max_programs": _MAX_PROGRAMS,
            "reject_grid": partial(_reject_grid, metadata.name),
            "explain": explainer(metadata.name, list(source.signature), names),
        }
        exec(compile(text, f"<launch of {metadata.name}>", "exec"), scope)
        return scope["launch"]


def _reject_grid(kernel: str, x: int, y: int, z: int) -> None:
    raise ValueError(
        f"{kernel}: the grid is ({x}, {y}, {z}), and each number of programs may be {_MAX_PROGRAMS} at most"
    )


def explainer(
    kernel: str, names: Sequence[Any], expressions: Sequence[str]
) -> Callable[[xr.UsageError, Sequence[Any]], None]:
    """Return a function that raises what a launch failed with, in the terms of the kernel's parameters.

    It returns where the launch may be tried again, because a type with ``data_ptr()`` is now known.
    """

    def explain(error: xr.UsageError, values: Sequence[Any]) -> None:
        if isinstance(error, xr.OutOfResources):
            raise KernelOutOfResources(str(error)) from error
        found = _ARGUMENT.search(str(error))
        if found and int(found[1]) < len(values):
            number = int(found[1])
            if accept_type(values[number]):
                return
            place = int(expressions[number].partition("[")[0][1:])
            error.add_note(f"argument {number} of {kernel} is its parameter {names[place]}")
        raise error

    return explain
