"""Merge kernels whose codes differ only in constant offsets, which become arguments.

An unrolled program has hundreds of such kernels, and compilation time grows with the number of sources.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import TypeVar

from .kernel import MAX_ARGUMENTS, Code, Kernel

K = TypeVar("K", bound=Hashable)

# Fewer kernels than this keep their constants, which let the compiler optimize more.
_MIN_KERNELS = 9


def share_codes(kernels: dict[K, Kernel]) -> dict[K, Kernel]:
    """Return the kernels; large groups that differ only in constant offsets share a code."""
    groups: dict[Code, dict[Code, None]] = {}
    forms: dict[K, Code] = {}
    for key, kernel in kernels.items():
        form = replace(kernel.code, offsets=("",) * len(kernel.code.offsets))
        forms[key] = form
        groups.setdefault(form, {})[kernel.code] = None
    shared = {
        form: _parameterize(form, [code.offsets for code in group])
        for form, group in groups.items()
        if len(group) >= _MIN_KERNELS
    }
    result = {}
    for key, kernel in kernels.items():
        found = shared.get(forms[key])
        if found is None:
            result[key] = kernel
            continue
        code, arguments = found
        given = [int(kernel.code.offsets[number]) for number in arguments]
        result[key] = replace(kernel, code=code, sizes=(*kernel.sizes, *given))
    return result


def _parameterize(
    form: Code, all_offsets: list[tuple[int | str, ...]]
) -> tuple[Code, list[int]] | None:
    """Return one code for all offsets, with the numbers of those that are arguments; None if too many are."""
    # Offsets that are equal to each other in every kernel share an argument.
    names: dict[tuple[int | str, ...], str] = {}
    arguments: list[int] = []
    written: list[int | str] = []
    for index, values in enumerate(zip(*all_offsets, strict=True)):
        if len(set(values)) == 1:
            written.append(values[0])
            continue
        if values not in names:
            names[values] = f"place{len(names)}"
            arguments.append(index)
        written.append(names[values])
    if len(names) > MAX_ARGUMENTS - len(form.parameters):
        return None
    parameters = (*form.parameters, *(f"i64 {name}" for name in names.values()))
    return replace(form, parameters=parameters, offsets=tuple(written)), arguments
