"""One text for kernels that differ only in where they read and write: what they differ in becomes arguments.

A program that is unrolled has hundreds of them, and it is the texts that take long to compile.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from dataclasses import replace
from typing import TypeVar

from .kernel_writer import Kernel

K = TypeVar("K", bound=Hashable)

# Fewer texts are compiled as they are: a compiler makes more of numbers that it knows.
_MIN_KERNELS = 9
# Arguments that a kernel may have.
_MAX_ARGUMENTS = 40

# The number that is added, last, to what the loops' counters say of a place in an array.
_NUMBER = re.compile(r"\b(x\d+\[(?:[^\[\]]* \+ )?)(-?\d+)\]")
_MARK = "#]"


def deduplicate(kernels: dict[K, Kernel]) -> dict[K, Kernel]:
    """The kernels, those with places of their own as arguments where there are many."""
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
    """A text with a mark for each number of its places, and the numbers."""
    numbers: list[str] = []

    def mark(found: re.Match[str]) -> str:
        numbers.append(found[2])
        return found[1] + _MARK

    return _NUMBER.sub(mark, text), numbers


class _ParameterizedSource:
    """A text whose places have arguments, and which of a kernel's numbers each of them is."""

    def __init__(self, text: str, arguments: list[int]) -> None:
        self.text, self.arguments = text, arguments

    def of(self, kernel: Kernel, numbers: list[str]) -> Kernel:
        given = [int(numbers[number]) for number in self.arguments]
        return replace(kernel, text=self.text, sizes=[*kernel.sizes, *given])


def _parameterize(
    text: str, all_numbers: list[list[str]], spare_arguments: int
) -> _ParameterizedSource | None:
    """One text for all; None where they differ in more than there is spare_arguments for."""
    # Numbers that are the same as each other in every kernel are one argument.
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
