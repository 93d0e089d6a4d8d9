"""Lines of users' kernels that Inductor has copied into files of its own."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .errors import UnsupportedKernelError
from .ir.locations import Location


def in_users_file(error: UnsupportedKernelError) -> UnsupportedKernelError:
    """Return the error with the line of the user's file, if its own is in a copy that Inductor has made."""
    if error.location is None:
        return error
    found = find(error.location)
    return UnsupportedKernelError(error.operation, error.reason, found) if found else error


def find(copy: Location) -> Location | None:
    """Return the line that a line of a copied function was; None if no function of the process has it."""
    path = Path(copy.file)
    lines = path.read_text().splitlines() if path.exists() else []
    above = [
        number for number in range(min(copy.line, len(lines))) if lines[number].startswith("def ")
    ]
    if not above:
        return None
    name = lines[above[-1]].removeprefix("def ").partition("(")[0].strip()
    for function in _functions():
        place = function.fn.__code__
        if function.__name__ == name and Path(place.co_filename) != path:
            source = function.raw_src
            start = next(i for i, line in enumerate(source) if line.lstrip().startswith("def "))
            line = start + copy.line - 1 - above[-1]
            if line < len(source) and source[line].strip() == lines[copy.line - 1].strip():
                return Location(place.co_filename, function.starting_line_number + line)
    return None


def _functions() -> Iterator[Any]:
    """Yield the kernels of compiled functions, and the functions that the kernels' modules have."""
    from triton.runtime.jit import JITFunction

    wrap = sys.modules.get("torch._higher_order_ops.triton_kernel_wrap")
    for kernel in wrap.kernel_side_table.id_to_kernel.values() if wrap else ():
        while not isinstance(kernel, JITFunction):
            kernel = kernel.fn
        yield kernel
        for value in list((kernel.__globals__ or {}).values()):
            if isinstance(value, JITFunction) and value.fn is not None:
                yield value
