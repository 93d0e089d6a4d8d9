"""The layout of each tile of a function."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from .ir.program import Block, Op, Value, walk
from .ir.strides import StrideAnalysis
from .ir.types import shape_of
from .ir.uses import Uses
from .layouts import Layout, Place, default_layout
from .matrix import MatrixProduct
from .operators import is_elementwise

_MEMORY = ("tt.load", "tt.store", "tt.atomic_rmw", "tt.atomic_cas")
# Operations whose results are laid out anew.
_OWN_LAYOUT = {"tt.load", "tt.atomic_rmw", "tt.atomic_cas", "tt.dot", "tt.gather", "tt.histogram"}
_CARRIERS = ("scf.for", "scf.while")


class LayoutChoice:
    """Chooses layouts: lanes along the dimension that is contiguous in memory, and few conversions."""

    def __init__(
        self, body: Block, lanes: int, teams: int, products: Mapping[Op, MatrixProduct]
    ) -> None:
        self.lanes, self.teams = lanes, teams
        # Those that matrix units compute.
        self.products = products
        self.strides = StrideAnalysis()
        self.uses = Uses(body)
        # Loaded tiles that only products use.
        self.operands: set[Value] = set()
        self.carried: dict[Value, list[Value]] = {}
        self._known: dict[Value, Layout | None] = {}
        self._contiguous: dict[tuple[int, ...], Counter[int]] = {}
        for op in walk(body):
            if op.name in _MEMORY:
                self._vote(op)
            self._find_carried(op)
        for op in walk(body):
            if op.name == "tt.load" and self._feeds_dot(op.result):
                self.operands.add(op.result)

    def of(self, value: Value) -> Layout:
        """Return the layout of a tile."""
        found = self.found(value) or self._by_users(value, set())
        return found or self.default(shape_of(value.type))

    def of_effect(self, op: Op, *values: Value) -> Layout:
        """Return the layout of an operation on several tiles of one shape; the first values count most."""
        for value in values:
            found = self.found(value)
            if found is not None:
                return found
        return self.default(shape_of(values[0].type))

    def default(self, shape: tuple[int, ...], first: int | None = None) -> Layout:
        """Return the layout of tiles of a shape, with the lanes along dimension ``first`` if it is given."""
        rest = list(reversed(range(len(shape))))
        if first is None:
            votes = self._contiguous.get(shape)
            first = votes.most_common(1)[0][0] if votes else None
        if first is not None:
            rest.remove(first)
            rest.insert(0, first)
        return default_layout(shape, tuple(rest), self.lanes, self.teams)

    def operand_order(self, op: Op, side: int) -> tuple[Place, ...]:
        """Return the order in which an operand of a product lies in local memory; see LocalBuffer.order."""
        product = self.products.get(op)
        if product is None:
            return ()
        shape = shape_of(op.operands[side].type)
        return product.right_order(shape) if side else product.left_order(shape)

    def contiguous_dimension(self, pointer: Value) -> int | None:
        """Return the dimension along which the addresses of a tile are next to each other."""
        sizes = shape_of(pointer.type)
        found = [
            dim
            for dim, stride in enumerate(self.strides.of(pointer))
            if stride == 1 and sizes[dim] > 1
        ]
        return found[-1] if found else None

    def found(self, value: Value) -> Layout | None:
        """Return the layout that a tile has by what computes it; None if it is computed where it is used."""
        if value not in self._known:
            self._known[value] = None  # while it is looked for: loops lead back to it
            self._known[value] = self._find(value)
        return self._known[value]

    def _find(self, value: Value) -> Layout | None:
        op, shape = value.op, shape_of(value.type)
        if not shape:
            return None
        for source in self.carried.get(value, ()):
            found = self.found(source)
            if found is not None:
                return found
        if op is None or value in self.carried:
            return self._by_users(value, set()) if value in self.carried else None
        name = op.name
        if name in _OWN_LAYOUT:
            return self._of_source(op, value)
        if name == "tt.reduce":
            return self._input_of(op).without(op.attributes["axis"])
        if name == "tt.scan":
            return self._input_of(op)
        inner = self.found(op.operands[0]) if op.operands else None
        if name == "tt.expand_dims":
            return inner and inner.expanded(op.attributes["axis"])
        if name == "tt.trans":
            return inner and inner.transposed(tuple(op.attributes["order"]))
        if name == "tt.reshape":
            return inner and inner.reshaped(shape)
        if is_elementwise(op):
            layouts = (self.found(operand) for operand in op.operands if shape_of(operand.type))
            return next((layout for layout in layouts if layout is not None), None)
        return None

    def _input_of(self, op: Op) -> Layout:
        """Return the layout of the tiles that an operation reduces or scans."""
        return self.of_effect(op, *op.operands)

    def _of_source(self, op: Op, value: Value) -> Layout:
        shape = shape_of(value.type)
        if op in self.products:
            return self.products[op].layout(shape, self.teams)
        if op.name == "tt.dot":
            return self.default(shape, len(shape) - 1)
        found = self._by_users(value, set())
        if found is not None:
            return found
        if op.name in _MEMORY and self._feeds_dot(value):
            return self.default(shape, self.contiguous_dimension(op.operands[0]))
        return self.default(shape)

    def _feeds_dot(self, value: Value) -> bool:
        """Return True if products alone use a tile: it goes through local memory in any case."""
        users = self.uses.of(value)
        return bool(users) and all(
            user.name == "tt.dot"
            or (
                (is_elementwise(user) or user.name == "tt.trans")
                and self._feeds_dot(user.results[0])
            )
            for user in users
        )

    def _by_users(self, value: Value, seen: set[Value]) -> Layout | None:
        """Return the layout of a tile that is broadcast: that of the larger tile."""
        if value in seen:
            return None
        seen.add(value)
        for user in self.uses.of(value):
            if user.name == "tt.broadcast":
                return self.default(shape_of(user.result.type)).projected(shape_of(value.type))
            if user.name == "tt.expand_dims":
                found = self._by_users(user.result, seen)
                if found is not None:
                    return found.without(user.attributes["axis"])
            elif is_elementwise(user):
                found = self._by_users(user.result, seen)
                if found is not None:
                    return found
        return None

    def _vote(self, op: Op) -> None:
        shape = shape_of(op.operands[0].type)
        first = self.contiguous_dimension(op.operands[0])
        if first is not None:
            self._contiguous.setdefault(shape, Counter())[first] += 1

    def _find_carried(self, op: Op) -> None:
        """Connect what a loop or a branch passes on: all of it has one layout."""
        if op.name == "scf.for":
            block = op.body
            inputs = zip(
                op.operands[3:],
                block.arguments[1:],
                block.terminator.operands,
                op.results,
                strict=True,
            )
            for initial, argument, following, result in inputs:
                self.carried[argument] = [initial, following]
                self.carried[result] = [argument]
        elif op.name == "scf.while":
            before, after = (region.blocks[0] for region in op.regions)
            passed = after.terminator.operands
            for initial, argument, value in zip(op.operands, before.arguments, passed, strict=True):
                self.carried[argument] = [initial, value]
            forwarded = before.terminator.operands[1:]
            for argument, result, value in zip(after.arguments, op.results, forwarded, strict=True):
                self.carried[argument] = [value]
                self.carried[result] = [value]
        elif op.name == "scf.if":
            for region in op.regions:
                if region.blocks:
                    for result, value in zip(
                        op.results, region.blocks[0].terminator.operands, strict=True
                    ):
                        self.carried.setdefault(result, []).append(value)
