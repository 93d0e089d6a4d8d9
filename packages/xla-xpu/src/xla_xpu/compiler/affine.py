"""Positions in arrays as affine functions of loop counters."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Affine:
    """``constant + sum(counter * factor)``; a counter is a loop's number, or the name of a variable."""

    constant: int = 0
    terms: tuple[tuple[int | str, int], ...] = ()

    @classmethod
    def of(cls, counter: int | str) -> Affine:
        """Return the position that equals the counter."""
        return cls(0, ((counter, 1),))

    def __add__(self, other: Affine | int) -> Affine:
        if isinstance(other, int):
            return Affine(self.constant + other, self.terms)
        terms = dict(self.terms)
        for counter, factor in other.terms:
            terms[counter] = terms.get(counter, 0) + factor
        return Affine(self.constant + other.constant, _sorted(terms))

    def __mul__(self, factor: int) -> Affine:
        if factor == 0:
            return Affine()
        return Affine(self.constant * factor, tuple((c, f * factor) for c, f in self.terms))

    def factor(self, counter: int | str) -> int:
        """Return by how much the position grows with the counter; 0 if it does not depend on it."""
        return dict(self.terms).get(counter, 0)

    @property
    def counters(self) -> set[int | str]:
        """Loops and variables on which the position depends; none has the factor 0."""
        return {counter for counter, _ in self.terms}

    def is_unit_stride(self, counter: int) -> bool:
        """Return True if the position grows by 1 with the counter, and uses only loop counters."""
        return self.factor(counter) == 1 and all(isinstance(c, int) for c in self.counters)

    def text(self, names: dict[int | str, str]) -> str:
        """Return C++ text; a counter without a name in ``names`` is its own name."""
        parts = []
        for counter, factor in self.terms:
            name = names.get(counter, str(counter))
            parts.append(name if factor == 1 else f"{name} * {factor}")
        if self.constant or not parts:
            parts.append(str(self.constant))
        return " + ".join(parts)


def _sorted(terms: dict[int | str, int]) -> tuple[tuple[int | str, int], ...]:
    return tuple(sorted(((c, f) for c, f in terms.items() if f), key=lambda item: str(item[0])))


Coordinates = tuple[Affine, ...]


def dot(coordinates: Coordinates, strides: tuple[int, ...]) -> Affine:
    """Return the position of coordinates in an array of these strides."""
    total = Affine()
    for coordinate, stride in zip(coordinates, strides, strict=True):
        total = total + coordinate * stride
    return total
