"""By how much the values of a tile grow along each dimension."""

from __future__ import annotations

from ..elements import integer
from .program import Value
from .types import Tensor, shape_of

# Operations that leave the growth of a value as it is.
_PASSING = {
    "tt.splat",
    "tt.broadcast",
    "tt.expand_dims",
    "tt.reshape",
    "tt.trans",
    "tt.bitcast",
    "arith.extsi",
    "arith.index_cast",
}
# None: not a constant.
Strides = tuple[int | None, ...]


class StrideAnalysis:
    """Finds the strides of tiles of integers and of addresses."""

    def __init__(self) -> None:
        self.known: dict[Value, Strides] = {}

    def of(self, value: Value) -> Strides:
        """Return the strides of a tile, one for each dimension."""
        found = self.known.get(value)
        if found is None:
            # A value that depends on itself, through a loop, has no constant strides.
            self.known[value] = (None,) * len(shape_of(value.type))
            found = self.known[value] = self._find(value)
        return found

    def constant(self, value: Value) -> int | None:
        """Return the number that all elements of a value are, if it is known."""
        op = value.op
        if op is None:
            return None
        if op.name == "arith.constant":
            return integer(op.attributes["value"])
        if op.name in ("tt.splat", "tt.broadcast", "tt.expand_dims", "arith.extsi", "tt.reshape"):
            return self.constant(op.operands[0])
        return None

    def _find(self, value: Value) -> Strides:
        op, shape = value.op, shape_of(value.type)
        unknown: Strides = (None,) * len(shape)
        if op is None or not isinstance(value.type, Tensor):
            return unknown
        name, operands = op.name, op.operands
        if name in ("arith.constant", "tt.splat"):
            return (0,) * len(shape)
        if name == "tt.make_range":
            return (1,)
        if name == "tt.expand_dims":
            inner, axis = self.of(operands[0]), op.attributes["axis"]
            return (*inner[:axis], 0, *inner[axis:])
        if name == "tt.broadcast":
            sizes = shape_of(operands[0].type)
            inner = self.of(operands[0])
            return tuple(0 if size == 1 else s for size, s in zip(sizes, inner, strict=True))
        if name == "tt.trans":
            inner = self.of(operands[0])
            return tuple(inner[source] for source in op.attributes["order"])
        if name in ("arith.addi", "tt.addptr", "arith.subi", "arith.ori"):
            sign = -1 if name == "arith.subi" else 1
            left, right = self.of(operands[0]), self.of(operands[1])
            return tuple(
                None if a is None or b is None else a + sign * b
                for a, b in zip(left, right, strict=True)
            )
        if name == "arith.muli":
            return self._product(operands[0], operands[1])
        if name in ("arith.divsi", "arith.divui"):
            return self._quotient(operands[0], operands[1], shape)
        if name in ("arith.extsi", "arith.extui", "arith.remsi", "arith.remui", "tt.bitcast"):
            # The remainder of a block is as contiguous as the block, but for one jump.
            return self.of(operands[0])
        if name == "arith.select":
            return self.of(operands[1])
        return unknown

    def _product(self, left: Value, right: Value) -> Strides:
        for value, other in ((left, right), (right, left)):
            factor = self.constant(value)
            if factor is not None:
                return tuple(None if s is None else s * factor for s in self.of(other))
        a, b = self.of(left), self.of(right)
        return tuple(0 if x == 0 and y == 0 else None for x, y in zip(a, b, strict=True))

    def _quotient(self, left: Value, right: Value, shape: tuple[int, ...]) -> Strides:
        """Return 0 where dividends are so close that they have one quotient, but for one jump."""
        divisor = self.constant(right) or 0
        return tuple(
            0 if s is not None and abs(s) * (size - 1) < abs(divisor) else None
            for s, size in zip(self.of(left), shape, strict=True)
        )

    def growth(self, value: Value, counter: Value) -> int | None:
        """Return by how much a value grows when a loop's counter grows by 1; None if this is no constant."""
        if value is counter:
            return 1
        op = value.op
        if op is None:
            return 0 if value.block is not counter.block else None
        if not op.operands:
            return 0
        parts = [self.growth(operand, counter) for operand in op.operands]
        if all(part == 0 for part in parts) and not op.regions:
            return 0
        if op.name in _PASSING:
            return parts[0]
        if op.name in ("arith.addi", "tt.addptr", "arith.subi"):
            left, right = parts
            if left is None or right is None:
                return None
            return left - right if op.name == "arith.subi" else left + right
        if op.name == "arith.muli":
            for index in (0, 1):
                factor, part = self.constant(op.operands[index]), parts[1 - index]
                if factor is not None and part is not None:
                    return factor * part
        return None
