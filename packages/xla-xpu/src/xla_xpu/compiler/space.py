"""The iteration space of a kernel, and positions in it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .affine import Affine, Coordinates

# An inner loop shorter than this would leave most lanes idle.
SHORT = 16


@dataclass
class Loops:
    """An iteration space: its sizes after joining dimensions, and the positions in terms of its counters."""

    sizes: list[int]
    positions: list[Affine]
    leading: int = 0


def counters(shape: tuple[int, ...]) -> Coordinates:
    """Return a counter for each dimension, and 0 for dimensions of size 1."""
    return tuple(Affine() if size == 1 else Affine.of(dim) for dim, size in enumerate(shape))


def join(shape: tuple[int, ...], positions: list[Affine], boundary: int = 0) -> Loops:
    """Join neighbouring dimensions that every position can iterate over as one.

    Dimensions before ``boundary`` are not joined with later ones; ``Loops.leading`` counts them.
    """
    dims = [dim for dim, size in enumerate(shape) if size != 1]
    groups: list[list[int]] = []
    for dim in dims:
        joinable = groups and (groups[-1][-1] < boundary) == (dim < boundary)
        if joinable and all(
            p.factor(groups[-1][-1]) == p.factor(dim) * shape[dim] for p in positions
        ):
            groups[-1].append(dim)
        else:
            groups.append([dim])
    sizes = [math.prod(shape[dim] for dim in group) for group in groups]
    joined = []
    for position in positions:
        terms: dict[int | str, int] = {
            number: position.factor(group[-1]) for number, group in enumerate(groups)
        }
        terms.update({c: f for c, f in position.terms if isinstance(c, str)})
        constant = Affine(position.constant)
        for counter, factor in terms.items():
            constant = constant + Affine.of(counter) * factor
        joined.append(constant)
    return Loops(sizes or [1], joined, sum(group[0] < boundary for group in groups))
