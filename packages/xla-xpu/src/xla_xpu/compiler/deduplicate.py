"""Merge kernels whose sources differ only in constant offsets, which become arguments.

An unrolled program has hundreds of such kernels, and compilation time grows with the number of sources.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from dataclasses import replace
from typing import TypeVar

from .kernel_writer import Kernel

K = TypeVar("K", bound=Hashable)

# Fewer kernels than this keep their constants, which let the compiler optimize more.
_MIN_KERNELS = 9
# The maximum number of a kernel's arguments.
_MAX_ARGUMENTS = 40

# The constant that a position adds, last, to its sum of loop counters.
_NUMBER = re.compile(r"\b(x\d+\[(?:[^\[\]]* \+ )?)(-?\d+)\]")
_MARK = "#]"


def deduplicate(kernels: dict[K, Kernel]) -> dict[K, Kernel]:
    """Return the kernels; large groups that differ only in constant offsets share a source."""
    groups: dict[str, dict[str, list[str]]] = {}
    marked: dict[K, str] = {}
    spare_arguments: dict[str, int] = {}
    for key, kernel in kernels.items():
        marked[key], numbers = _without_numbers(kernel.text)
        groups.setdefault(marked[key], {})[kernel.text] = numbers
        spare_arguments[marked[key]] = _MAX_ARGUMENTS - len(kernel.arguments) - len(kernel.sizes)
    shared = {
        text: _parameterize(text, list(group.values()), spare_arguments[text])
        for text, group in groups.items()
        if len(group) >= _MIN_KERNELS
    }
    result = {}
    for key, kernel in kernels.items():
        source = shared.get(marked[key])
        result[key] = source.of(kernel, groups[marked[key]][kernel.text]) if source else kernel
    return result


def _without_numbers(text: str) -> tuple[str, list[str]]:
    """Return a source with a mark in place of each constant offset, and the offsets."""
    numbers: list[str] = []

    def mark(found: re.Match[str]) -> str:
        numbers.append(found[2])
        return found[1] + _MARK

    return _NUMBER.sub(mark, text), numbers


class _ParameterizedSource:
    """A source whose offsets are arguments; ``arguments`` are their indices in a kernel's offsets."""

    def __init__(self, text: str, arguments: list[int]) -> None:
        self.text, self.arguments = text, arguments

    def of(self, kernel: Kernel, numbers: list[str]) -> Kernel:
        given = [int(numbers[number]) for number in self.arguments]
        return replace(kernel, text=self.text, sizes=[*kernel.sizes, *given])


def _parameterize(
    text: str, all_numbers: list[list[str]], spare_arguments: int
) -> _ParameterizedSource | None:
    """Return one source for all kernels; None if it needs more than ``spare_arguments``."""
    # Offsets that are equal to each other in every kernel share an argument.
    names: dict[tuple[str, ...], str] = {}
    arguments: list[int] = []
    written: list[str] = []
    for index, values in enumerate(zip(*all_numbers, strict=True)):
        if len(set(values)) == 1:
            written.append(values[0])
            continue
        if values not in names:
            names[values] = f"place{len(names)}"
            arguments.append(index)
        written.append(names[values])
    if len(names) > spare_arguments:
        return None
    rest = iter(written)
    text = re.sub(re.escape(_MARK), lambda _: f"{next(rest)}]", text)
    parameters = "".join(f", i64 {name}" for name in names.values())
    return _ParameterizedSource(text.replace(") {", f"{parameters}) {{", 1), arguments)
