"""What is known of integers: of which number they are multiples, and whether they may be negative."""

from __future__ import annotations

import math

from ..elements import integer
from .program import Op, Value, walk

# What a value that is 0 is a multiple of, among other numbers.
_ANY = 1 << 30
# The largest number that the index of a row is taken to be multiplied by.
MAX_STRIDE = 1 << 24
_PASSED = (
    "tt.splat",
    "tt.broadcast",
    "tt.expand_dims",
    "tt.reshape",
    "tt.trans",
    "arith.extsi",
    "arith.index_cast",
)


class IntegerFacts:
    """Facts about the integers of a kernel. Sums and products are taken not to overflow."""

    def __init__(self, function: Op) -> None:
        self._multiples: dict[Value, int] = {}
        self._nonnegative: dict[Value, bool] = {}
        attributes = function.attributes.get("arg_attrs") or []
        for argument, known in zip(function.body.arguments, attributes, strict=False):
            self._multiples[argument] = known.get("tt.divisibility", 1)
        self._counters: dict[Value, Op] = {
            op.body.arguments[0]: op for op in walk(function.body) if op.name == "scf.for"
        }

    def multiple_of(self, value: Value) -> int:
        """Return a divisor of a value: the largest that is known, at least 1."""
        found = self._multiples.get(value)
        if found is None:
            self._multiples[value] = 1
            found = self._multiples[value] = self._find_multiple(value)
        return found

    def is_nonnegative(self, value: Value) -> bool:
        """Return True if a value is known not to be negative."""
        found = self._nonnegative.get(value)
        if found is None:
            self._nonnegative[value] = False
            found = self._nonnegative[value] = self._find_nonnegative(value)
        return found

    def _find_multiple(self, value: Value) -> int:
        if value in self._counters:
            lower, _, step = self._counters[value].operands[:3]
            return math.gcd(self.multiple_of(lower), self.multiple_of(step))
        op = value.op
        if op is None:
            return 1
        if op.name == "arith.constant":
            number = integer(op.attributes["value"])
            return 1 if number is None else abs(number) or _ANY
        factors = [self.multiple_of(operand) for operand in op.operands]
        if op.name in _PASSED:
            return factors[0]
        if op.name == "arith.muli":
            return min(math.prod(factors), _ANY)
        if op.name in ("arith.addi", "arith.subi", "arith.minsi", "arith.maxsi", "arith.remsi"):
            return math.gcd(*factors)
        if op.name == "arith.select":
            return math.gcd(*factors[1:])
        return 1

    def _find_nonnegative(self, value: Value) -> bool:
        if value in self._counters:
            lower, _, step = self._counters[value].operands[:3]
            return self.is_nonnegative(lower) and self.is_nonnegative(step)
        op = value.op
        if op is None:
            return False
        if op.name in ("tt.get_program_id", "tt.get_num_programs"):
            return True
        if op.name == "arith.constant":
            number = integer(op.attributes["value"])
            return number is not None and number >= 0
        if op.name == "tt.make_range":
            return bool(op.attributes["start"] >= 0)
        known = [self.is_nonnegative(operand) for operand in op.operands]
        if op.name == "arith.remsi":
            return known[0]
        if op.name == "arith.maxsi":
            return any(known)
        if op.name == "arith.muli" and self._is_hash(op):
            return False
        names = ("arith.muli", "arith.addi", "arith.divsi", "arith.minsi", *_PASSED)
        return op.name in names and all(known)

    def _is_hash(self, op: Op) -> bool:
        """Return True for a product with a number so large that the product is meant to overflow."""
        for operand in op.operands:
            source = operand.op
            if source is not None and source.name == "arith.constant":
                number = integer(source.attributes["value"])
                if number is not None and number > MAX_STRIDE:
                    return True
        return False
