"""The index arithmetic of a kernel: offsets, divisions, and bounds that hold for all lanes or for none."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..elements import integer
from ..ir.program import Value
from ..ir.types import Scalar, Tensor, element_of
from ..layouts import Bit, Position, number_text
from ..operators import is_elementwise
from ..shapes import RENAMING, SELECTING
from .group import Expr
from .linear import Factor, Linear

if TYPE_CHECKING:
    from .values import ValueWriter

# By the predicate's number, signed.
_BELOW_OR_NOT = {2: "<", 5: ">="}
# Index arithmetic has 32 bits, or 64; sums below the limit do not wrap in 32.
_WIDTH, _LIMIT = 32, 1 << 31


def offset_text(writer: ValueWriter, value: Value, position: Position) -> Expr:
    """Return the text of an offset at a position of the open loop."""
    sum_ = _in_64_bits(writer, value, position)
    depths, widths = _depths(writer), writer.widths()
    if not isinstance(value.type, Tensor):
        return Expr(sum_.text(widths), sum_.depth(depths))
    offset = writer.let_once("i64", sum_.text(widths), sum_.depth(depths))
    even = sum_.without_jumps()
    return replace(offset, even=even.text(widths), jumps=sum_.jumps) if even else offset


def _in_64_bits(writer: ValueWriter, value: Value, position: Position) -> Linear:
    """Return an integer as a sum in 64 bits; of an i32, what may exceed 32 bits is computed in these."""
    sum_ = linear(writer, value, position)
    if _width(value) > _WIDTH:
        return sum_
    bounded, rest = sum_.split_bounded(_LIMIT)
    if not rest.terms or rest.is_plain:
        return sum_
    text, depth = f"(i32)({rest.text(writer.widths(), 'i32')})", rest.depth(_depths(writer))
    # Of what the sum is a multiple, it is one after it has wrapped if this is a power of two.
    power = rest.multiple & -rest.multiple
    name = writer.let_once("i32", text, depth)
    varies = not rest.is_uniform
    factor = Factor(name.text, name.depth, power, rest.is_nonnegative, varies, is_local=True)
    return bounded + Linear.of(factor)


def _width(value: Value) -> int:
    type = element_of(value.type)
    return type.bits if isinstance(type, Scalar) and type.is_integer else _WIDTH


def linear(writer: ValueWriter, value: Value, position: Position) -> Linear:
    """Return an integer as a sum."""
    group = writer.group
    assert group is not None
    key = (value, position)
    for scope in reversed(group.scopes):
        if key in scope.sums:
            return scope.sums[key]
    found = _find(writer, value, position)
    group.scopes[found.depth(_depths(writer))].sums[key] = found
    return found


def _depths(writer: ValueWriter) -> dict[str, int]:
    group = writer.group
    assert group is not None
    return {group.outer: 1, group.inner: 2}


def _find(writer: ValueWriter, value: Value, position: Position) -> Linear:
    op = value.op
    if not isinstance(value.type, Tensor):
        return _of_scalar(writer, value)
    if op is None or value in writer.plan.materialized:
        return _opaque(writer, value, position)
    name = op.name
    if name == "tt.make_range":
        return Linear.of_coordinate(position[0]) + Linear(op.attributes["start"])
    if name in RENAMING and name not in SELECTING:
        ((source, at),) = RENAMING[name](op, value.index, position)
        return linear(writer, source, at)
    number = writer.choice.strides.constant(value)
    if number is not None:
        return Linear(number)
    if _width(value) < _WIDTH:  # wraps earlier
        return _opaque(writer, value, position)
    if name == "arith.extsi" and element_of(op.operands[0].type) != Scalar("i1"):
        extended = _in_64_bits(writer, op.operands[0], position)
        return extended.widened() if _width(value) > _WIDTH else extended
    if name in ("arith.addi", "arith.subi"):
        left, right = (linear(writer, operand, position) for operand in op.operands)
        return left + right.scaled(-1 if name == "arith.subi" else 1)
    if name == "arith.muli":
        return _product(writer, value, position)
    if name in ("arith.divsi", "arith.remsi"):
        divided = _divided(writer, value, position)
        if divided is not None:
            return divided
    return _opaque(writer, value, position)


def _of_scalar(writer: ValueWriter, value: Value) -> Linear:
    op = value.op
    if op is not None and op.name == "arith.constant":
        number = integer(op.attributes["value"])
        if number is not None:
            return Linear(number)
    expr = writer.element(value, ())
    facts = writer.facts
    factor = Factor(expr.text, expr.depth, facts.multiple_of(value), facts.is_nonnegative(value))
    return Linear.of(factor)


def _opaque(writer: ValueWriter, value: Value, position: Position) -> Linear:
    expr = writer.element(value, position)
    varies = not writer.is_uniform(value)
    return Linear.of(Factor(expr.text, expr.depth, varies=varies, is_local=True))


def _product(writer: ValueWriter, value: Value, position: Position) -> Linear:
    op = value.op
    assert op is not None
    left, right = (linear(writer, operand, position) for operand in op.operands)
    for factor, other in ((left, right), (right, left)):
        if not factor.terms:
            return other.scaled(factor.constant)
    for single, other in ((left.factor, right), (right.factor, left)):
        if single is not None:
            return other.times(single)
    return _opaque(writer, value, position)


def _divided(writer: ValueWriter, value: Value, position: Position) -> Linear | None:
    """Return a quotient or a remainder that is the same for all lanes, or is this plus the lane's number."""
    op = value.op
    assert op is not None
    dividend, divisor = (linear(writer, operand, position) for operand in op.operands)
    if not dividend.terms or not divisor.is_uniform:
        return None
    split = dividend.split_lanes()
    if split is None:
        return None
    rest, lanes = split
    # Neighboring numbers are indices, which are taken not to wrap. What all lanes share may be a hash.
    is_nonnegative = dividend.is_nonnegative if lanes.terms else dividend.is_nonnegative_index
    # A negative divisor changes at most the sign of the quotient; 0 gives what it gives for the whole.
    if lanes.terms:
        if not is_nonnegative:
            return None
        if divisor.multiple % (1 << len(lanes.terms)):
            return _divided_with_jump(writer, value, rest, lanes, divisor)
    is_quotient = op.name == "arith.divsi"
    if not rest.terms:  # a constant below the power of two
        return None if rest.constant else (Linear() if is_quotient else lanes)
    depths = _depths(writer)
    depth = max(rest.depth(depths), divisor.depth(depths))
    is_hoisted = writer.is_invariant(value) and not (rest.is_local or divisor.is_local)
    if is_hoisted:
        name = Expr(_hoisted(writer, value, rest, divisor, is_nonnegative), depth)
    else:
        text = _quotient_text(writer, value, rest, divisor, writer.widths(), is_nonnegative)
        name = writer.let_once(writer.type_of(value), text, depth)
    # Both are multiples of the power of two, so the remainder is one too.
    power = 1 << len(lanes.terms)
    factor = Factor(
        name.text,
        name.depth,
        1 if is_quotient else power,
        is_nonnegative,
        is_local=not is_hoisted or bool(rest.bits | divisor.bits),
        limit=_limit(divisor) if is_nonnegative and not is_quotient else 0,
    )
    found = Linear.of(factor)
    return found if is_quotient else found + lanes


def _limit(divisor: Linear) -> int:
    """Return what remainders are below, 0 if it is not known."""
    return 0 if divisor.terms else max(divisor.constant, 0)


def _divided_with_jump(
    writer: ValueWriter, value: Value, rest: Linear, lanes: Linear, divisor: Linear
) -> Linear | None:
    """Return a quotient or a remainder by a constant that some of the lanes may exceed, once at most."""
    count = 1 << len(lanes.terms)
    limit = _limit(divisor)
    if limit < count:
        return None
    op, type = value.op, writer.type_of(value)
    assert op is not None
    depths, widths = _depths(writer), writer.widths()
    depth = rest.depth(depths)
    dividend = f"(u{type[1:]})({rest.text(widths, type)})"

    def named(type: str, text: str, depth: int, limit: int, jumps: str = "") -> Factor:
        name = writer.let_once(type, text, depth)
        varies = bool(jumps)
        return Factor(name.text, depth, 1, True, varies, is_local=True, limit=limit, jumps=jumps)

    first = named(type, f"({type})({dividend} % {limit}u)", depth, limit)
    if_any = named("bool", f"({first.text} + {count - 1} >= {limit})", depth, 2)
    beyond = f"({type})({first.text} + {lanes.text(widths, type)} >= {limit})"
    inner = max(depth, lanes.depth(depths))
    jump = Linear.of(named(type, beyond, inner, 2, if_any.text))
    if op.name == "arith.divsi":
        return Linear.of(named(type, f"({type})({dividend} / {limit}u)", depth, 0)) + jump
    return Linear.of(first) + lanes + jump.scaled(-limit)


def _hoisted(
    writer: ValueWriter, value: Value, rest: Linear, divisor: Linear, is_nonnegative: bool
) -> str:
    """Return the text of a quotient or remainder that is computed before the loops that do not change it.

    There is one for each value of the loops' counters on which the dividend depends.
    """
    bits = sorted(rest.bits | divisor.bits, key=lambda bit: (bit.variable, bit.index))
    counter = "q"
    names = {bit: Bit(counter, index) for index, bit in enumerate(bits)}
    renamed, by = rest.renamed(names), divisor.renamed(names)
    widths = {counter: len(bits)}
    text = _quotient_text(writer, value, renamed, by, widths, is_nonnegative)
    array = writer.hoist(value, text, counter, 1 << len(bits))
    return f"{array}[{number_text(bits, writer.widths())}]"


def _quotient_text(
    writer: ValueWriter,
    value: Value,
    rest: Linear,
    divisor: Linear,
    widths: dict[str, int],
    is_nonnegative: bool,
) -> str:
    type = writer.type_of(value)
    is_quotient = value.op is not None and value.op.name == "arith.divsi"
    left = f"({rest.text(widths, type)})"
    right = f"({divisor.text(widths, type)})"
    if not divisor.terms and divisor.constant > 0:
        symbol = "/" if is_quotient else "%"
        if is_nonnegative:
            unsigned = f"u{type[1:]}"
            return f"({type})(({unsigned}){left} {symbol} {divisor.constant}u)"
        return f"{left} {symbol} {divisor.constant}"
    writer.need("integer")
    return f"{'trunc_div' if is_quotient else 'fmod'}(({type}){left}, ({type}){right})"


def index_expr(writer: ValueWriter, value: Value, position: Position) -> Expr | None:
    """Return the text of a division or comparison that lanes need not compute one by one, or None."""
    op = value.op
    if op is None or not is_elementwise(op) or not isinstance(value.type, Tensor):
        return None
    if op.name in ("arith.divsi", "arith.remsi"):
        found = _divided(writer, value, position)
        if found is None:
            return None
        type = writer.type_of(value)
        text = found.text(writer.widths(), type)
        return writer.let(type, text, found.depth(_depths(writer)))
    if op.name == "arith.cmpi":
        return _compared(writer, value, position)
    return None


def _compared(writer: ValueWriter, value: Value, position: Position) -> Expr | None:
    """Return a comparison with a bound that all lanes are below, or none."""
    op = value.op
    assert op is not None
    symbol = _BELOW_OR_NOT.get(op.attributes["predicate"])
    if symbol is None or not _is_index(op.operands[0]):
        return None
    left, bound = (linear(writer, operand, position) for operand in op.operands)
    split = left.split_lanes()
    if split is None or not bound.is_uniform:
        return None
    rest, lanes = split
    if not lanes.terms or bound.multiple % (1 << len(lanes.terms)):
        return None
    depths, widths = _depths(writer), writer.widths()
    type = writer.type_of(op.operands[0])
    text = f"({rest.text(widths, type)} {symbol} {bound.text(widths, type)})"
    return writer.let_once("bool", text, max(rest.depth(depths), bound.depth(depths)))


def _is_index(value: Value) -> bool:
    type = element_of(value.type)
    return isinstance(type, Scalar) and type.name in ("i32", "i64")
