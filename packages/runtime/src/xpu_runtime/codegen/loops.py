"""The loops of a kernel: dimensions are joined where every position can iterate over them as one."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .affine import Affine
from .sizes import Extent, Size

# An inner loop shorter than this would leave most lanes idle.
MIN_INNER = 16


@dataclass(frozen=True)
class Loops:
    """The sizes after joining, and each position in terms of the joined counters.

    ``leading`` counts the loops of dimensions before the boundary of ``join``.
    """

    sizes: list[Extent]
    positions: dict[Affine, Affine]
    leading: int = 0


def join(shape: Sequence[Size], positions: Iterable[Affine], boundary: int = 0) -> Loops:
    """Join neighboring dimensions that every position can iterate over as one.

    Dimensions before ``boundary`` are not joined with later ones. Dimensions with symbols are joined if that
    is right for all values.
    """
    factors = [(position, dict(position.terms)) for position in positions]
    groups: list[list[int]] = []
    for dim in (dim for dim, size in enumerate(shape) if size != 1):
        last = groups[-1][-1] if groups else -1
        size = shape[dim]
        if (
            groups
            and (last < boundary) == (dim < boundary)
            and all(of.get(last, 0) == of.get(dim, 0) * size for _, of in factors)
        ):
            groups[-1].append(dim)
        else:
            groups.append([dim])
    sizes: list[Extent] = [math.prod(shape[dim] for dim in group) for group in groups]
    joined = {}
    for position, of in factors:
        terms: dict[int | str, Extent] = {
            number: of.get(group[-1], 0) for number, group in enumerate(groups)
        }
        terms.update((c, f) for c, f in of.items() if isinstance(c, str))
        joined[position] = Affine(position.constant) + Affine(0, _nonzero(terms))
    return Loops(sizes or [1], joined, sum(group[0] < boundary for group in groups))


def _nonzero(terms: dict[int | str, Extent]) -> tuple[tuple[int | str, Extent], ...]:
    return tuple(sorted(((c, f) for c, f in terms.items() if f), key=lambda item: str(item[0])))
