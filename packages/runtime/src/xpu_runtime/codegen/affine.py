"""Positions in arrays as affine functions of loop counters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .sizes import SYMBOLIC, Extent


class Affine(NamedTuple):
    """``constant + sum(counter * factor)``.

    A counter is a loop's number, or the name of a variable or of a symbol. A factor is a number, a symbol or
    a product. ``+`` and ``*`` raise TypeError where symbols would be added; name the sum with a symbol.
    """

    constant: int = 0
    terms: tuple[tuple[int | str, Extent], ...] = ()

    @classmethod
    def of(cls, counter: int | str) -> Affine:
        """Return the position that equals the counter."""
        return cls(0, ((counter, 1),))

    def __add__(self, other: Affine | int) -> Affine:  # type: ignore[override]
        if isinstance(other, int):
            return Affine(self.constant + other, self.terms)
        if not other.terms:
            return Affine(self.constant + other.constant, self.terms)
        if not self.terms:
            return Affine(self.constant + other.constant, other.terms)
        terms = dict(self.terms)
        for counter, factor in other.terms:
            terms[counter] = _sum(terms[counter], factor) if counter in terms else factor
        return Affine(self.constant + other.constant, _sorted(terms))

    def __mul__(self, factor: Extent) -> Affine:  # type: ignore[override]
        if factor == 0:
            return _ZERO
        constant = self.constant
        if not isinstance(factor, SYMBOLIC):
            constant *= factor
        elif constant:
            raise TypeError(f"{constant} * {factor} is no number; name it with a symbol")
        return Affine(constant, tuple((c, f * factor) for c, f in self.terms))

    def factor(self, counter: int | str) -> Extent:
        """Return by how much the position grows with the counter; 0 if it does not depend on it."""
        for other, factor in self.terms:
            if other == counter:
                return factor
        return 0

    @property
    def counters(self) -> set[int | str]:
        """Loops and variables on which the position depends; none has the factor 0."""
        return {counter for counter, _ in self.terms}

    @property
    def variables(self) -> list[str]:
        """Names of the variables on which the position depends."""
        return [counter for counter, _ in self.terms if isinstance(counter, str)]

    def is_unit_stride(self, counter: int) -> bool:
        """Return True if the position grows by 1 with the counter, and uses only loop counters."""
        return self.factor(counter) == 1 and not self.variables

    def text(self, names: dict[int | str, str]) -> str:
        """Return C++ text; a counter without a name in ``names`` is its own name."""
        parts = self.summands(names)
        if self.constant or not parts:
            parts.append(str(self.constant))
        return " + ".join(parts)

    def summands(self, names: dict[int | str, str]) -> list[str]:
        """Return C++ texts of the terms, without the constant."""
        return [
            names.get(counter, str(counter)) + ("" if factor == 1 else f" * {factor}")
            for counter, factor in self.terms
        ]


_ZERO = Affine()


def _sum(a: Extent, b: Extent) -> int:
    if isinstance(a, SYMBOLIC) or isinstance(b, SYMBOLIC):
        raise TypeError(f"{a} + {b} is the factor of a counter; name it with a symbol")
    return a + b


def _sorted(terms: dict[int | str, Extent]) -> tuple[tuple[int | str, Extent], ...]:
    return tuple(sorted(((c, f) for c, f in terms.items() if f), key=lambda item: str(item[0])))


Coordinates = tuple[Affine, ...]


def dot(coordinates: Coordinates, strides: tuple[Extent, ...]) -> Affine:
    """Return the position of coordinates in an array of these strides."""
    total = _ZERO
    for coordinate, stride in zip(coordinates, strides, strict=True):
        total = total + coordinate * stride
    return total


def row_major(shape: Sequence[Extent]) -> tuple[Extent, ...]:
    """Return the strides of a contiguous array, in elements."""
    strides: list[Extent] = []
    step: Extent = 1
    for size in reversed(shape):
        strides.append(step)
        step *= size
    return tuple(reversed(strides))


def counters(shape: Sequence[Extent]) -> Coordinates:
    """Return a counter for each dimension, and 0 for dimensions of size 1."""
    return tuple(_ZERO if size == 1 else Affine.of(dim) for dim, size in enumerate(shape))
