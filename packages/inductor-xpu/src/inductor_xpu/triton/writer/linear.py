"""Index arithmetic as sums, from which follows what is the same for all lanes and what is next to each other.

Offsets are sums in 64 bits, so that a compiler for vectors sees consecutive addresses, which it does not
where 32 bits may wrap. What may exceed 32 bits is computed in these, though, where it is an i32 in Triton.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from ..ir.facts import MAX_STRIDE
from ..layouts import LANE, Bit, Source


@dataclass(frozen=True)
class Factor:
    """A number by its C++ text; the same for all lanes unless it ``varies``.

    ``is_local``: the text names what only the open loop over registers has. ``limit``: the number is not
    negative and below it; 0 is not known. ``jumps`` is the text of a condition, the same for all lanes,
    without which the number is 0.
    """

    text: str
    depth: int = 0
    multiple: int = 1
    nonnegative: bool = False
    varies: bool = False
    is_local: bool = False
    limit: int = 0
    jumps: str = ""


ONE = Factor("1", multiple=1, nonnegative=True, limit=2)
# A summand: a number, or a number times a bit of a counter.
Summand = tuple[Factor, Bit | None]


@dataclass(frozen=True)
class Linear:
    """``constant + sum(factor * bit * coefficient)``."""

    constant: int = 0
    terms: Mapping[Summand, int] = field(default_factory=dict)

    @classmethod
    def of(cls, factor: Factor) -> Linear:
        """Return a number as a sum."""
        return cls(0, {(factor, None): 1})

    @classmethod
    def of_coordinate(cls, bits: Iterable[Source]) -> Linear:
        """Return a coordinate as a sum of its bits."""
        constant = 0
        terms: dict[Summand, int] = {}
        for index, source in enumerate(bits):
            if isinstance(source, int):
                constant += source << index
            else:
                terms[ONE, source] = 1 << index
        return cls(constant, terms)

    def __add__(self, other: Linear) -> Linear:
        terms = dict(self.terms)
        for key, coefficient in other.terms.items():
            terms[key] = terms.get(key, 0) + coefficient
        return Linear(self.constant + other.constant, terms)

    def scaled(self, number: int) -> Linear:
        """Return the product with a number."""
        return Linear(self.constant * number, {k: c * number for k, c in self.terms.items()})

    def times(self, factor: Factor) -> Linear:
        """Return the product with a number by its text."""
        terms: dict[Summand, int] = {}
        if self.constant:
            terms[factor, None] = self.constant
        for (own, bit), coefficient in self.terms.items():
            key = (factor if own == ONE else _product(own, factor), bit)
            terms[key] = terms.get(key, 0) + coefficient
        return Linear(0, terms)

    @property
    def factor(self) -> Factor | None:
        """The sum as one number that is the same for all lanes; None if it is not one."""
        if len(self.terms) != 1 or self.constant:
            return None
        (((factor, bit), coefficient),) = self.terms.items()
        return factor if bit is None and coefficient == 1 and not factor.varies else None

    @property
    def is_local(self) -> bool:
        """True if the text names what only the open loop over registers has, besides its counters."""
        return any(factor.is_local for factor, _ in self.terms)

    @property
    def is_uniform(self) -> bool:
        """True if all lanes have the same number."""
        return not any(f.varies or (b is not None and b.variable == LANE) for f, b in self.terms)

    @property
    def is_nonnegative(self) -> bool:
        """True if the number is known not to be negative."""
        return self.constant >= 0 and all(
            0 <= c <= MAX_STRIDE and factor.nonnegative for (factor, _), c in self.terms.items()
        )

    @property
    def is_nonnegative_index(self) -> bool:
        """True if the number is known not to be negative, and no product in it may wrap to a negative one."""
        return self.is_nonnegative and all(
            c == 1 or factor == ONE for (factor, _), c in self.terms.items()
        )

    @property
    def multiple(self) -> int:
        """A number of which the sum is a multiple."""
        return math.gcd(self.constant, *(c * f.multiple for (f, _), c in self.terms.items()))

    @property
    def bits(self) -> set[Bit]:
        """The bits of counters on which the number depends."""
        return {bit for _, bit in self.terms if bit is not None}

    def renamed(self, names: Mapping[Bit, Bit]) -> Linear:
        """Return the sum with other bits in the place of its own."""
        terms = {(f, b if b is None else names[b]): c for (f, b), c in self.terms.items()}
        return Linear(self.constant, terms)

    def widened(self) -> Linear:
        """Return the sum with factors of 64 bits, so that products of them do not wrap in 32."""
        terms: dict[Summand, int] = {}
        for (factor, bit), coefficient in self.terms.items():
            wide = factor if factor == ONE else replace(factor, text=f"(i64){factor.text}")
            terms[wide, bit] = coefficient
        return Linear(self.constant, terms)

    def split_bounded(self, limit: int) -> tuple[Linear, Linear]:
        """Return what has bounds, if it is below a limit in all, and the rest."""
        own = {key: c for key, c in self.terms.items() if key[0].limit}
        largest = sum(abs(c) * (factor.limit - 1) for (factor, _), c in own.items())
        if abs(self.constant) + largest >= limit:
            return Linear(), self
        rest = {key: c for key, c in self.terms.items() if key not in own}
        return Linear(self.constant, own), Linear(0, rest)

    @property
    def jumps(self) -> str:
        """The text of the condition without which the factors that may jump are 0."""
        return " || ".join(dict.fromkeys(f.jumps for f, _ in self.terms if f.jumps))

    def without_jumps(self) -> Linear | None:
        """Return the sum where no factor jumps; None if it has no such factor, or others that vary."""
        terms = {key: c for key, c in self.terms.items() if not key[0].jumps}
        if len(terms) == len(self.terms) or any(factor.varies for factor, _ in terms):
            return None
        return Linear(self.constant, terms)

    @property
    def is_plain(self) -> bool:
        """True for a number that is not multiplied or added to others."""
        terms = list(self.terms.items())
        return not self.constant and len(terms) == 1 and terms[0][0][1] is None and terms[0][1] == 1

    def depth(self, depth_of: Mapping[str, int]) -> int:
        """Return the depth of the scope that has all that the text names."""
        depths = [f.depth for f, _ in self.terms]
        depths += [depth_of.get(b.variable, 0) for _, b in self.terms if b is not None]
        return max(depths, default=0)

    def split_lanes(self) -> tuple[Linear, Linear] | None:
        """Return the rest and the lane's number below a power of two, if the sum is these two.

        The rest is a multiple of the power.
        """
        lanes = {
            bit.index: c
            for (factor, bit), c in self.terms.items()
            if bit is not None and bit.variable == LANE and factor == ONE
        }
        if any(lanes.get(index) != 1 << index for index in range(len(lanes))):
            return None
        keys = {(ONE, Bit(LANE, index)) for index in lanes}
        rest = Linear(self.constant, {k: c for k, c in self.terms.items() if k not in keys})
        if not rest.is_uniform or rest.multiple % (1 << len(lanes)):
            return None
        return rest, Linear(0, {key: self.terms[key] for key in keys})

    def text(self, widths: Mapping[str, int], type: str = "i64") -> str:
        """Return the C++ text, computed in a type."""
        texts = [str(self.constant)] if self.constant else []
        runs: dict[tuple[Factor, str], dict[int, int]] = {}
        for (factor, bit), coefficient in self.terms.items():
            if bit is None:
                texts.append(_scaled(f"({type}){factor.text}", coefficient))
            elif coefficient:
                runs.setdefault((factor, bit.variable), {})[bit.index] = coefficient
        for (factor, variable), bits in runs.items():
            for text, coefficient in _runs(variable, bits, widths[variable]):
                by = "" if factor == ONE else f"{factor.text} * "
                texts.append(_scaled(f"({type}){by}{text}", coefficient))
        return " + ".join(texts) if texts else "0"


def _product(left: Factor, right: Factor) -> Factor:
    return Factor(
        f"({left.text} * {right.text})",
        max(left.depth, right.depth),
        left.multiple * right.multiple,
        left.nonnegative and right.nonnegative,
        left.varies or right.varies,
        left.is_local or right.is_local,
        (left.limit - 1) * (right.limit - 1) + 1 if left.limit and right.limit else 0,
        left.jumps or right.jumps,
    )


def _scaled(text: str, coefficient: int) -> str:
    return text if coefficient == 1 else f"{text} * {coefficient}"


def _runs(variable: str, bits: dict[int, int], width: int) -> Iterable[tuple[str, int]]:
    """Iterate over parts of a counter and their coefficients; bits whose coefficients double are together."""
    order = sorted(bits)
    at = 0
    while at < len(order):
        first = order[at]
        count = 1
        while (
            at + count < len(order)
            and order[at + count] == first + count
            and bits[first + count] == bits[first] << count
        ):
            count += 1
        text = f"({variable} >> {first})" if first else variable
        if first + count < width:
            text = f"({text} & {(1 << count) - 1})"
        yield text, bits[first]
        at += count
