"""Loop programs: what the writers turn into kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .elements import Element
from .sizes import Size, Symbol
from .statements import Operand, Statement, operands, terms_of, walk


class ProgramError(ValueError):
    """A loop program that cannot be written; ``name`` is what is wrong with it."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name


@dataclass(frozen=True, slots=True)
class Array:
    """An argument of the kernel: memory of ``bytes`` bytes; kernels may write it if ``writable``.

    ``bytes`` is None if it depends on symbols; accesses are then not checked.
    """

    element: Element
    bytes: int | None
    writable: bool = False


@dataclass(frozen=True, slots=True)
class Fold:
    """A reduction along rows, of one or several accumulators ``s0``, ``s1``, ....

    ``update`` combines them with names of the section's elements; ``combine`` with the accumulators ``r0``,
    ``r1``, ... of another lane. ``finish`` are the values of ``results``, which later sections may use.
    """

    results: tuple[str, ...]
    types: tuple[str, ...]
    identities: tuple[str, ...]
    update: Sequence[Statement]
    combine: Sequence[Statement]
    finish: tuple[Operand, ...]

    @property
    def rounds(self) -> bool:
        """True for sums and products of numbers that round."""
        if len(self.types) > 1 or not self.types[0].startswith(("float", "double", "Complex")):
            return False
        terms = (
            term for s in walk(self.combine) for value in operands(s) for term in terms_of(value)
        )
        return any(" + " in term.template or " * " in term.template for term in terms)


@dataclass(frozen=True, slots=True)
class Section:
    """A loop along the row: statements for each element, folds over them, then statements once per row.

    Of a program without folded dimensions, the one section's ``per_element`` is the whole computation.
    """

    per_element: Sequence[Statement]
    folds: Sequence[Fold] = ()
    per_row: Sequence[Statement] = ()


@dataclass(frozen=True, slots=True)
class Cache:
    """Local memory for a value of each element of a row; ``type`` is the C++ type."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class LoopProgram:
    """Statements over the elements of ``shape``.

    The first ``parallel_dims`` dimensions are parallel; along the others, a row, folds run. A kernel with
    symbols serves many shapes.
    """

    arrays: Sequence[Array]
    shape: tuple[Size, ...]
    parallel_dims: int
    sections: Sequence[Section]
    caches: Sequence[Cache] = ()
    # Headers of the device library whose functions the templates call.
    headers: Sequence[str] = ()
    # Lanes lie along the last parallel dimension, where memory is contiguous; each lane folds its own row.
    lanes_on_parallel: bool = False
    # Further parameters of the kernel behind its arrays, as C++ declarations, whose names templates may use.
    parameters: Sequence[str] = ()
    # All symbols of sizes, strides and statements, in the order of the kernel's arguments.
    symbols: Sequence[Symbol] = ()
    # Whether positions are i64; None decides from sizes without symbols. The caller of a kernel with symbols
    # and i32 positions guards that no count or number of bytes exceeds MAX_NARROW of tiles.py.
    wide: bool | None = None
    # For code that is shown: comments behind the definitions of values, by their names, and behind the stores
    # to arrays, by the names x0, x1, ....
    comments: Mapping[str, str] = field(default_factory=dict)
