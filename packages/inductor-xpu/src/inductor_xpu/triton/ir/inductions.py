"""Values that grow by the same step in each trip of a loop: they are computed from the number of the trip.

A pointer that each trip advances would otherwise be an array of addresses, of which no compiler knows that
they are next to each other.
"""

from __future__ import annotations

from ..operators import is_elementwise
from ..shapes import RENAMING
from .program import Block, Op, Value, make_op, replace_uses, walk
from .read import Number
from .types import Pointer, Scalar, Tensor, Type, element_of

_I64 = Scalar("i64")
_STEPS = ("tt.addptr", "arith.addi")


def simplify_inductions(body: Block) -> None:
    """Replace what loops carry by what follows from the number of a trip, inner loops first."""
    for region in [r for op in body.ops for r in op.regions]:
        for block in region.blocks:
            simplify_inductions(block)
    ops: list[Op] = []
    replaced: dict[Value, Value] = {}
    for op in body.ops:
        if op.name == "scf.for":
            before, after = _simplify(op, replaced)
            ops += [*before, op, *after]
        else:
            ops.append(op)
    body.ops = ops
    if replaced:
        replace_uses(body, replaced)


def _simplify(loop: Op, replaced: dict[Value, Value]) -> tuple[list[Op], list[Op]]:
    """Simplify one loop. Return what comes before and after it, and note what its results are."""
    block = loop.body
    inside = set(walk(block))
    own = {*block.arguments}
    before: list[Op] = []
    first: list[Op] = []
    after: list[Op] = []
    remaining: list[int] = []
    inner: dict[Value, Value] = {}
    trip: Value | None = None
    trips: Value | None = None
    yields = block.terminator.operands
    for index, argument in enumerate(block.arguments[1:]):
        step = _step_of(argument, yields[index], inside, own)
        if step is None:
            remaining.append(index)
            continue
        before += _hoist(block, step, inside)
        if trip is None:
            trip = _number_of_trip(loop, first)
        initial = loop.operands[3 + index]
        inner[argument] = _advanced(initial, step, trip, first)
        if trips is None:
            trips = _number_of_trips(loop, after)
        replaced[loop.results[index]] = _advanced(initial, step, trips, after)
    if not inner:
        return [], []
    block.terminator.operands = [yields[index] for index in remaining]
    loop.operands = [*loop.operands[:3], *(loop.operands[3 + index] for index in remaining)]
    block.arguments = [block.arguments[0], *(block.arguments[1 + index] for index in remaining)]
    loop.results = [loop.results[index] for index in remaining]
    for index, value in enumerate(loop.results):
        value.index = index
    block.ops = [*first, *block.ops]
    replace_uses(block, inner)
    return before, after


def _step_of(argument: Value, following: Value, inside: set[Op], own: set[Value]) -> Value | None:
    """Return what is added to an argument in each trip, if it is the same in all trips."""
    op = following.op
    type = element_of(argument.type)
    if (
        op is None
        or op not in inside
        or op.name not in _STEPS
        or (isinstance(type, Scalar) and type.bits < 32)
    ):
        return None
    left, right = op.operands
    if right is argument and op.name == "arith.addi":
        left, right = right, left
    if left is not argument or not _is_invariant(right, inside, own):
        return None
    return right


def _is_invariant(value: Value, inside: set[Op], own: set[Value]) -> bool:
    """Return True for a value that is the same in all trips, and can be computed before the first."""
    waiting, seen = [value], set()
    while waiting:
        item = waiting.pop()
        if item in seen:
            continue
        seen.add(item)
        if item in own:
            return False
        op = item.op
        if op is None or op not in inside:
            if (
                op is None
                and item.block is not None
                and item.block.ops
                and item.block.ops[0] in inside
            ):
                return False  # an argument of a loop within
            continue
        if not (is_elementwise(op) or op.name in RENAMING or op.name == "tt.make_range"):
            return False
        waiting += op.operands
    return True


def _hoist(block: Block, value: Value, inside: set[Op]) -> list[Op]:
    """Take the operations that compute a value out of a loop, in order."""
    needed: set[Op] = set()
    waiting = [value]
    while waiting:
        op = waiting.pop().op
        if op is not None and op in inside and op not in needed:
            needed.add(op)
            waiting += op.operands
    hoisted = [op for op in block.ops if op in needed]
    block.ops = [op for op in block.ops if op not in needed]
    inside -= needed
    return hoisted


def _add(
    ops: list[Op], name: str, operands: list[Value], type: Type, **attributes: object
) -> Value:
    op = make_op(name, operands, [type], attributes=attributes)
    ops.append(op)
    return op.result


def _constant(ops: list[Op], number: int, type: Type) -> Value:
    return _add(ops, "arith.constant", [], type, value=Number(str(number), _number_type(type)))


def _number_type(type: Type) -> Scalar:
    element = element_of(type)
    assert isinstance(element, Scalar)
    return element


def _is_number(value: Value, number: int) -> bool:
    op = value.op
    if op is None or op.name != "arith.constant":
        return False
    found = op.attributes["value"]
    return not isinstance(found, bool) and int(found) == number


def _number_of_trip(loop: Op, ops: list[Op]) -> Value:
    """Return the number of the current trip, from 0, as i64."""
    lower, _, step = loop.operands[:3]
    number = loop.body.arguments[0]
    type = number.type
    if not _is_number(lower, 0):
        number = _add(ops, "arith.subi", [number, lower], type)
    if not _is_number(step, 1):
        number = _add(ops, "arith.divsi", [number, step], type)
    return number if type == _I64 else _add(ops, "arith.extsi", [number], _I64)


def _number_of_trips(loop: Op, ops: list[Op]) -> Value:
    """Return how many trips a loop runs, as i64."""
    lower, upper, step = loop.operands[:3]
    type = lower.type
    length = _add(ops, "arith.subi", [upper, lower], type)
    one = _constant(ops, 1, type)
    last = _add(ops, "arith.addi", [length, _add(ops, "arith.subi", [step, one], type)], type)
    number = _add(ops, "arith.divsi", [last, step], type)
    number = _add(ops, "arith.maxsi", [number, _constant(ops, 0, type)], type)
    return number if type == _I64 else _add(ops, "arith.extsi", [number], _I64)


def _advanced(initial: Value, step: Value, count: Value, ops: list[Op]) -> Value:
    """Return a value after a number of steps."""
    shape = initial.type.shape if isinstance(initial.type, Tensor) else None
    is_pointer = isinstance(element_of(initial.type), Pointer)
    target = _I64 if is_pointer else _number_type(initial.type)
    number = count
    if target != _I64:
        number = _add(ops, "arith.trunci", [count], target)
    type: Type = target if shape is None else Tensor(shape, target)
    wide = step
    if element_of(step.type) != target:
        wide = _add(ops, "arith.extsi", [step], type)
    if shape is not None:
        number = _add(ops, "tt.splat", [number], type)
    product = _add(ops, "arith.muli", [wide, number], type)
    name = "tt.addptr" if is_pointer else "arith.addi"
    return _add(ops, name, [initial, product], initial.type)
