"""The values of scalars and of the elements of tiles, computed where they are used."""

from __future__ import annotations

from collections.abc import Sequence

from ..elements import memory_size, pointer_type, register_size, register_type
from ..ir.program import Op, Value
from ..ir.types import Pointer, Tensor, element_of
from ..layouts import Bit, Position, number_text
from ..libdevice_calls import call_text
from ..operators import find_operator, is_elementwise
from ..shapes import RENAMING, SELECTING
from .arrays import ArrayWriter
from .group import Expr
from .indices import index_expr, offset_text

_ADDRESS_OPS = {"tt.addptr", "tt.int_to_ptr", "tt.ptr_to_int"}


class ValueWriter(ArrayWriter):
    """Writes values."""

    scalars: dict[Value, Expr]
    # The number of loops of the user's around an operation, and around what is written.
    depths: dict[Op, int]
    loops: list[Op]
    # Of a value computed where it is used: the loops over registers in which it is, and the values that it
    # is for.
    demands: dict[Value, set[tuple[int, Value | None]]]
    # Those that are computed again in each trip of a loop that does not change them.
    repeated: set[Value]
    # Loads of tiles that are not yet written.
    waiting: dict[Value, Op]
    # Numbers that are computed before the loops of the user's, and the lines there.
    hoisted: dict[tuple[Value, str], tuple[list[str], str]]
    preheaders: list[list[str]]

    def scalar(self, value: Value) -> Expr:
        """Return a scalar's text, outside loops over registers unless one computes it."""
        if self.group is not None:
            found = self.group.find(value, ())
            if found is not None:
                return found
            if value in self.group.results:
                self.close()
        found = self.scalars.get(value)
        if found is None:
            assert value.op is not None, "a scalar without a definition"
            found = self.scalars[value] = self._compute(value, (), self._operands(value, ()))
        return found

    def element(self, value: Value, position: Position) -> Expr:
        """Return the text of a tile's element at a position of the open loop."""
        group = self.group
        assert group is not None
        waiting: list[tuple[Value, Position, Value | None]] = [(value, position, None)]
        while waiting:
            item, at, user = waiting[-1]
            self._demand(item, user)
            if self._known(item, at) is not None:
                waiting.pop()
                continue
            requests = self._operands(item, at)
            missing = [
                (operand, where, item)
                for operand, where in requests
                if self._known(operand, where) is None
            ]
            if missing:
                waiting += missing
                continue
            expr = self._compute(item, at, requests)
            group.scopes[expr.depth].memo[item, at] = expr
            waiting.pop()
        found = self._known(value, position)
        assert found is not None
        return found

    def _demand(self, value: Value, user: Value | None) -> None:
        """Note in which loop a value is computed, and for what."""
        group = self.group
        if group is not None and value.op is not None and value not in self.plan.materialized:
            self.demands.setdefault(value, set()).add((group.number, user))
            if self.loops and self.depths[value.op] < len(self.loops):
                self.repeated.add(value)

    def _known(self, value: Value, position: Position) -> Expr | None:
        group = self.group
        assert group is not None
        found = group.find(value, position)
        if found is None and not isinstance(value.type, Tensor):
            found = self.scalars.get(value)
            if found is not None and value in group.results:
                return self.later(value)
        if found is None and value in self.arrays:
            found = self.read_array(value, position)
            group.scopes[found.depth].memo[value, position] = found
        return found

    def _operands(self, value: Value, position: Position) -> list[tuple[Value, Position]]:
        """Return what a value that is computed where it is used is computed from."""
        op = value.op
        if op is None:
            return []
        if op.name in RENAMING:
            return RENAMING[op.name](op, value.index, position)
        if value in self.waiting:
            return [(operand, position) for operand in op.operands]
        if op.name == "tt.addptr":  # offsets are sums of their own
            return [(op.operands[0], position)]
        if is_elementwise(op) or op.name in _ADDRESS_OPS:
            return [(operand, position) for operand in op.operands]
        return []

    def _compute(
        self, value: Value, position: Position, requests: Sequence[tuple[Value, Position]]
    ) -> Expr:
        """Return the text of an element whose operands are known, named in its scope unless it is short."""
        op = value.op
        if op is None:  # what a loop carries, at another position than its own
            assert self.interchanged is not None, f"an argument of type {value.type} has no array"
            self.plan.forbid_interchange(self.interchanged)
            return self.dummy(value)
        exprs = [self._operand(operand, at) for operand, at in requests]
        depth = max([expr.depth for expr in exprs], default=0)
        if value in self.waiting:
            return self._loaded(value, position)
        if op.name in SELECTING:
            return self._selected(value, SELECTING[op.name](position), exprs)
        if op.name in RENAMING:
            return exprs[0]
        if op.name == "tt.make_range":
            return self._coordinate(op, position)
        if op.name == "tt.addptr":
            return self._advanced(exprs[0], op.operands[1], position)
        if op.name == "tt.get_program_id":
            return self.let("i32", f"(i32)group_id({op.attributes['axis']})", depth)
        if op.name == "tt.get_num_programs":
            return self.let("i32", f"(i32)group_count({op.attributes['axis']})", depth)
        if op.name in _ADDRESS_OPS or isinstance(element_of(value.type), Pointer):
            return self._address(value, exprs, depth)
        if not is_elementwise(op):
            return self._materialize(value)
        if self.group is not None:
            found = index_expr(self, value, position)
            if found is not None:
                return found
        return self._elementwise(value, exprs, depth)

    def _loaded(self, value: Value, position: Position) -> Expr:
        """Write a load that has waited for its first use, if this is in a loop of its layout."""
        from .memory import load_element

        group, op = self.group, value.op
        assert group is not None
        assert op is not None
        layout = self.choice.of(value)
        if group.layout.structure == layout.structure and group.position(layout) == position:
            return load_element(self, op, position)  # type: ignore[arg-type]
        self.plan.load_early(op)
        return self.dummy(value)

    def _advanced(self, base: Expr, offset: Value, position: Position) -> Expr:
        """Return an address after a number of elements."""
        more = self.scalar(offset) if self.group is None else offset_text(self, offset, position)
        depth = max(base.depth, more.depth)
        if base.offset:
            return Expr(base.text, depth, f"{base.offset} + {more.text}")
        return Expr(base.text, depth, more.text, more.even, more.jumps)

    def _operand(self, value: Value, position: Position) -> Expr:
        if self.group is not None:
            found = self._known(value, position)
            if found is not None:
                return found
        return self.scalar(value)

    def _materialize(self, value: Value) -> Expr:
        """Note that a value is used in another loop than its own."""
        assert value.op is not None
        if not isinstance(value.type, Tensor):
            raise self.unsupported(value.op, "this operation is not supported on xpu")
        self.plan.keep(value)
        if self.interchanged is not None:
            self.plan.forbid_interchange(self.interchanged)
        return self.dummy(value)

    def _elementwise(self, value: Value, exprs: list[Expr], depth: int) -> Expr:
        op = value.op
        assert op is not None
        texts = [expr.address for expr in exprs]
        if op.name == "tt.extern_elementwise":
            text, function = call_text(op, texts)
            self.need(*function.headers)
            if function.prelude:
                self.preludes[function.prelude] = None
            return self.let(self.type_of(value), text, depth)
        operator = find_operator(op)
        self.need(*operator.headers)
        constants = [self.choice.strides.constant(operand) for operand in op.operands]
        text = operator.render(op, texts, constants)
        return (
            Expr(text, depth) if operator.cost == 0 else self.let(self.type_of(value), text, depth)
        )

    def _coordinate(self, op: Op, position: Position) -> Expr:
        group, start = self.group, op.attributes["start"]
        assert group is not None
        text = number_text(position[0], self.widths())
        text = f"({text} + {start})" if start else text
        depth = group.depth_of(position)
        return Expr(text, depth) if text == "0" else self.let("i32", text, depth)

    def _selected(self, value: Value, source: Bit | int, exprs: list[Expr]) -> Expr:
        if isinstance(source, int):
            return exprs[source]
        group = self.group
        assert group is not None
        depth = max(*(expr.depth for expr in exprs), group.depth_of(((source,),)))
        bit = f"({source.variable} >> {source.index} & 1)"
        text = f"{bit} ? {exprs[1].address} : {exprs[0].address}"
        return self.let(self.type_of(value), text, depth)

    def _address(self, value: Value, exprs: list[Expr], depth: int) -> Expr:
        """Return the text of an operation with addresses as operands or as the result."""
        op = value.op
        assert op is not None
        target = element_of(value.type)
        if op.name == "tt.int_to_ptr":
            return Expr(f"(({register_type(target)}){exprs[0].text})", depth)
        if op.name == "tt.ptr_to_int":
            return self.let("i64", f"(i64)({exprs[0].address})", depth)
        if op.name == "tt.bitcast":
            source = element_of(op.operands[0].type)
            assert isinstance(source, Pointer)
            assert isinstance(target, Pointer)
            if memory_size(source.pointee) == memory_size(target.pointee):
                return Expr(f"(({pointer_type(target)}){exprs[0].text})", depth, exprs[0].offset)
            return Expr(f"(({pointer_type(target)}){exprs[0].address})", depth)
        return self._elementwise(value, exprs, depth)

    def is_invariant(self, value: Value) -> bool:
        """Return True for a value that is computed outside of a loop of the user's around what is written."""
        return value.op is not None and self.depths.get(value.op, 0) < len(self.loops)

    def hoist(self, value: Value, text: str, counter: str, size: int) -> str:
        """Return the name of an array with numbers that all lanes share, computed before the loops.

        ``text`` is that of the number at ``counter``. Loops with the same text share the array.
        """
        assert value.op is not None
        lines = self.preheaders[self.depths[value.op]]
        place, name = self.hoisted.get((value, text), (None, ""))
        if place is lines:
            return name
        type, name = self.type_of(value), self.name("h")
        self.hoisted[value, text] = lines, name
        if self.storage.lanes:
            offset = self.local.reserve(size * register_size(element_of(value.type)))
            lines.append(f"{type}* {name} = ({type}*)((u8*)local_memory.data + {offset});")
        else:
            lines.append(f"{type} {name}[{size}];")
        loop = f"for (i32 {counter} = 0; {counter} < {size}; ++{counter})"
        lines.append(f"{loop} {name}[{counter}] = {text};")
        return name
