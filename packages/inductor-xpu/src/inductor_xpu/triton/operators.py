"""Operations on single elements: their C++ expressions and what they cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .elements import constant, pointer_type, register_type, rounded, stored
from .errors import UnsupportedKernelError
from .ir.program import Op
from .ir.types import Element, Pointer, Scalar, element_of

# What an operand is if all its elements are one number that is known.
Constants = Sequence[int | None]
Render = Callable[[Op, Sequence[str], Constants], str]


@dataclass(frozen=True)
class Operator:
    """An operation on elements: its text, the headers that the text needs, and its cost in additions."""

    render: Render
    headers: tuple[str, ...] = ()
    cost: int = 1


def is_elementwise(op: Op) -> bool:
    """Return True for an operation whose result has at each position what the operands have there."""
    return op.name in OPERATORS or op.name == "tt.extern_elementwise"


def find_operator(op: Op) -> Operator:
    """Return how an operation is written. Raises UnsupportedKernelError for one that is not known."""
    found = OPERATORS.get(op.name)
    if found is None:
        raise UnsupportedKernelError(op.name, "this operation is not supported on xpu", op.location)
    return found


def result_element(op: Op) -> Element:
    """Return the element type of an operation's result."""
    return element_of(op.results[0].type)


def _scalar(op: Op, index: int = -1) -> Scalar:
    """Return the type of an operand's element; of the result's without an index."""
    type = element_of((op.results[0] if index < 0 else op.operands[index]).type)
    assert isinstance(type, Scalar), f"{op.name} of addresses"
    return type


def _unsigned(type: Scalar) -> str:
    return f"u{type.bits}"


def _float(template: str) -> Render:
    """Return the text of a float operation, rounded to its type."""
    return lambda op, texts, _: rounded(_scalar(op), template.format(*texts))


def _plain(template: str) -> Render:
    return lambda op, texts, _: template.format(*texts)


def _wrapping(symbol: str, of_bits: str) -> Render:
    """Return the text of an operation on integers; ``of_bits`` is that of booleans."""

    def render(op: Op, texts: Sequence[str], constants: Constants) -> str:
        type = _scalar(op)
        if type.name == "i1":
            return of_bits.format(*texts)
        text = f"{texts[0]} {symbol} {texts[1]}"
        return f"({type.name})({text})" if type.bits < 32 else text

    return render


def _bitwise(symbol: str) -> Render:
    neutral = "true" if symbol == "&" else "false"

    def render(op: Op, texts: Sequence[str], constants: Constants) -> str:
        type = _scalar(op)
        if type.name == "i1" and neutral in texts:
            return texts[1] if texts[0] == neutral else texts[0]
        return f"({register_type(type)})({texts[0]} {symbol} {texts[1]})"

    return render


def _division(symbol: str, function: str, unsigned: bool = False) -> Render:
    """Return the text of a division, which must not trap where the divisor is 0."""

    def render(op: Op, texts: Sequence[str], constants: Constants) -> str:
        type = _scalar(op)
        left, right = texts
        if type.name == "i1":
            return left if symbol == "/" else "false"
        if unsigned:
            left, right = (f"({_unsigned(type)}){text}" for text in texts)
        divisor = constants[1]
        text = f"{function}({left}, {right})"
        if divisor is not None and divisor > 0:
            text = f"{left} {symbol} {right}"
        return f"({type.name})({text})" if unsigned or type.bits < 32 else text

    return render


def _shift(symbol: str, function: str) -> Render:
    def render(op: Op, texts: Sequence[str], constants: Constants) -> str:
        type = _scalar(op)
        if type.name == "i1":
            return f"({texts[0]} && !{texts[1]})"
        count = constants[1]
        if count is not None and 0 <= count < type.bits:
            if symbol == ">>>":
                return f"({type.name})(({_unsigned(type)}){texts[0]} >> {count})"
            return f"({type.name})({texts[0]} {symbol} {count})"
        return f"{function}({texts[0]}, {texts[1]})"

    return render


def _extreme(function: str, unsigned: bool) -> Render:
    def render(op: Op, texts: Sequence[str], constants: Constants) -> str:
        type = _scalar(op)
        if type.name == "i1":
            # As signed numbers true is -1, below false.
            is_or = (function == "max_of") == unsigned
            return f"({texts[0]} {'||' if is_or else '&&'} {texts[1]})"
        if unsigned:
            texts = [f"({_unsigned(type)}){text}" for text in texts]
            return f"({type.name}){function}({texts[0]}, {texts[1]})"
        return f"{function}({texts[0]}, {texts[1]})"

    return render


_INTEGER_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=", "<", "<=", ">", ">=")


def _compare_integers(op: Op, texts: Sequence[str], constants: Constants) -> str:
    predicate = op.attributes["predicate"]
    type = element_of(op.operands[0].type)
    left, right = texts
    symbol = _INTEGER_COMPARISONS[predicate]
    if isinstance(type, Pointer):
        left, right = f"(u64)({left})", f"(u64)({right})"
    elif type.name == "i1" and 2 <= predicate < 6:  # as signed numbers true is -1
        left, right = right, left
    elif predicate >= 6 and type.name != "i1":
        left, right = (f"({_unsigned(type)}){text}" for text in texts)
    return f"({left} {symbol} {right})"


_FLOAT_COMPARISONS = (
    "false",
    "({0} == {1})",
    "({0} > {1})",
    "({0} >= {1})",
    "({0} < {1})",
    "({0} <= {1})",
    "({0} < {1} || {0} > {1})",
    "({0} == {0} && {1} == {1})",
    "!({0} < {1} || {0} > {1})",
    "!({0} <= {1})",
    "!({0} < {1})",
    "!({0} >= {1})",
    "!({0} > {1})",
    "({0} != {1})",
    "({0} != {0} || {1} != {1})",
    "true",
)


def _compare_floats(op: Op, texts: Sequence[str], constants: Constants) -> str:
    return _FLOAT_COMPARISONS[op.attributes["predicate"]].format(*texts)


def _select(op: Op, texts: Sequence[str], constants: Constants) -> str:
    return f"({texts[0]} ? {texts[1]} : {texts[2]})"


def _sign_extended(op: Op, texts: Sequence[str], constants: Constants) -> str:
    target = _scalar(op).name
    if _scalar(op, 0).name == "i1":
        return f"({register_type(_scalar(op))})-(i32){texts[0]}"
    return f"({'i64' if target == 'index' else target}){texts[0]}"


def _zero_extended(op: Op, texts: Sequence[str], constants: Constants) -> str:
    source = _scalar(op, 0)
    inner = texts[0] if source.name == "i1" else f"({_unsigned(source)}){texts[0]}"
    return f"({register_type(_scalar(op))}){inner}"


def _truncated(op: Op, texts: Sequence[str], constants: Constants) -> str:
    if _scalar(op).name == "i1":
        return f"(({texts[0]} & 1) != 0)"
    return f"({register_type(_scalar(op))}){texts[0]}"


def _to_float(unsigned: bool) -> Render:
    def render(op: Op, texts: Sequence[str], constants: Constants) -> str:
        source, target = _scalar(op, 0), _scalar(op)
        text = texts[0]
        if source.name == "i1":
            text = f"({'' if unsigned else '-'}(i32){text})"
        elif unsigned:
            text = f"({_unsigned(source)}){text}"
        return rounded(target, f"({register_type(target)}){text}")

    return render


def _to_integer(unsigned: bool) -> Render:
    def render(op: Op, texts: Sequence[str], constants: Constants) -> str:
        target = _scalar(op)
        if target.name == "i1":
            return f"({texts[0]} != 0)"
        kind = _unsigned(target) if unsigned else target.name
        return f"({target.name})to_sat<{kind}>({texts[0]})"

    return render


def _convert_float(op: Op, texts: Sequence[str], constants: Constants) -> str:
    source, target = _scalar(op, 0), _scalar(op)
    if target.name == "f64":
        return f"(double){texts[0]}"
    if source.name == "f64" and not stored(target).narrow:
        return f"(float){texts[0]}"
    if stored(target).narrow and source != target:
        function = "to_sat" if target.bits == 8 else "to"
        if op.attributes.get("rounding") == 0:
            function = "triton::toward_zero"
        return f"(float){function}<{stored(target).stored}>({texts[0]})"
    return texts[0]


def _bitcast(op: Op, texts: Sequence[str], constants: Constants) -> str:
    source, target = element_of(op.operands[0].type), element_of(op.results[0].type)
    if source == target:
        return texts[0]
    assert isinstance(source, Scalar)
    assert isinstance(target, Scalar)
    text = texts[0]
    if stored(source).narrow:
        text = f"to<{stored(source).stored}>({text})"
    elif source.name == "i1":
        text = f"(i8){text}"
    if target.name == "i1":
        return f"((bits_as<u8>({text}) & 1) != 0)"
    if stored(target).narrow:
        return f"(float)bits_as<{stored(target).stored}>({text})"
    return f"bits_as<{register_type(target)}>({text})"


def _clamp(op: Op, texts: Sequence[str], constants: Constants) -> str:
    # Without propagation a NaN becomes the lower bound, as the interpreter and hardware have it.
    propagates = op.attributes.get("propagateNan") == 0xFFFF
    larger, smaller = ("maximum", "minimum") if propagates else ("fmax", "fmin")
    return f"{smaller}({larger}({texts[0]}, {texts[1]}), {texts[2]})"


def _multiply_high(op: Op, texts: Sequence[str], constants: Constants) -> str:
    type = _scalar(op)
    left, right = (f"({_unsigned(type)}){text}" for text in texts)
    return f"({type.name})mul_high({left}, {right})"


def _zero(op: Op, texts: Sequence[str], constants: Constants) -> str:
    type = result_element(op)
    return f"({pointer_type(type)})0" if isinstance(type, Pointer) else constant("0", type)


def _constant(op: Op, texts: Sequence[str], constants: Constants) -> str:
    return constant(op.attributes["value"], _scalar(op))


def _function(name: str, header: str, arity: int = 1, cost: int = 10) -> Operator:
    arguments = ", ".join(f"{{{i}}}" for i in range(arity))
    return Operator(_float(f"{name}({arguments})"), (header,), cost)


OPERATORS: dict[str, Operator] = {
    "arith.constant": Operator(_constant, cost=0),
    "ub.poison": Operator(_zero, cost=0),
    "arith.addi": Operator(_wrapping("+", "({0} != {1})")),
    "arith.subi": Operator(_wrapping("-", "({0} != {1})")),
    "arith.muli": Operator(_wrapping("*", "({0} && {1})")),
    "arith.divsi": Operator(_division("/", "trunc_div"), ("integer",), 8),
    "arith.divui": Operator(_division("/", "trunc_div", True), ("integer",), 8),
    "arith.remsi": Operator(_division("%", "fmod"), ("integer",), 8),
    "arith.remui": Operator(_division("%", "fmod", True), ("integer",), 8),
    "arith.andi": Operator(_bitwise("&")),
    "arith.ori": Operator(_bitwise("|")),
    "arith.xori": Operator(_bitwise("^")),
    "arith.shli": Operator(_shift("<<", "shift_left"), ("integer",)),
    "arith.shrsi": Operator(_shift(">>", "shift_right"), ("integer",)),
    "arith.shrui": Operator(_shift(">>>", "shift_right_logical"), ("integer",)),
    "arith.maxsi": Operator(_extreme("max_of", False)),
    "arith.minsi": Operator(_extreme("min_of", False)),
    "arith.maxui": Operator(_extreme("max_of", True)),
    "arith.minui": Operator(_extreme("min_of", True)),
    "arith.cmpi": Operator(_compare_integers),
    "arith.cmpf": Operator(_compare_floats),
    "arith.select": Operator(_select),
    "arith.extsi": Operator(_sign_extended),
    "arith.extui": Operator(_zero_extended),
    "arith.trunci": Operator(_truncated),
    "arith.index_cast": Operator(_sign_extended),
    "arith.sitofp": Operator(_to_float(False)),
    "arith.uitofp": Operator(_to_float(True)),
    "arith.fptosi": Operator(_to_integer(False), ("convert",), 2),
    "arith.fptoui": Operator(_to_integer(True), ("convert",), 2),
    "arith.extf": Operator(_convert_float, ("convert",)),
    "arith.truncf": Operator(_convert_float, ("convert",)),
    "tt.fp_to_fp": Operator(_convert_float, ("convert", "atomic"), 3),
    "tt.bitcast": Operator(_bitcast, ("convert",)),
    "arith.bitcast": Operator(_bitcast, ("convert",)),
    "arith.addf": Operator(_float("{0} + {1}")),
    "arith.subf": Operator(_float("{0} - {1}")),
    "arith.mulf": Operator(_float("{0} * {1}")),
    "arith.divf": Operator(_float("{0} / {1}"), cost=4),
    "tt.precise_divf": Operator(_float("{0} / {1}"), cost=4),
    "arith.negf": Operator(_float("-{0}")),
    "arith.remf": _function("fmod", "math", 2),
    "arith.maximumf": _function("maximum", "math", 2, 2),
    "arith.minimumf": _function("minimum", "math", 2, 2),
    "arith.maxnumf": _function("fmax", "math", 2, 2),
    "arith.minnumf": _function("fmin", "math", 2, 2),
    "tt.clampf": Operator(_clamp, ("math",), 3),
    "tt.mulhiui": Operator(_multiply_high, ("integer",), 2),
    "math.absi": Operator(_plain("abs({0})"), ("integer",)),
    "math.absf": _function("abs", "math", 1, 1),
    "math.ceil": _function("ceil", "math", 1, 1),
    "math.floor": _function("floor", "math", 1, 1),
    "math.trunc": _function("trunc", "math", 1, 1),
    "math.round": _function("round_away", "math", 1, 1),
    "math.roundeven": _function("round_even", "math", 1, 1),
    "math.copysign": _function("copysign", "math", 2, 1),
    "math.fma": _function("fma", "math", 3, 1),
    "math.sqrt": _function("sqrt", "math", 1, 4),
    "tt.precise_sqrt": _function("sqrt", "math", 1, 4),
    "math.rsqrt": _function("rsqrt", "math", 1, 4),
    "math.cbrt": _function("cbrt", "math"),
    "math.exp": _function("exp", "exp"),
    "math.exp2": _function("exp2", "exp"),
    "math.expm1": _function("expm1", "exp"),
    "math.log": _function("log", "exp"),
    "math.log2": _function("log2", "exp"),
    "math.log10": _function("log10", "exp"),
    "math.log1p": _function("log1p", "exp"),
    "math.powf": _function("pow", "exp", 2),
    "math.sin": _function("sin", "trig"),
    "math.cos": _function("cos", "trig"),
    "math.tan": _function("tan", "trig"),
    "math.asin": _function("asin", "trig"),
    "math.acos": _function("acos", "trig"),
    "math.atan": _function("atan", "trig"),
    "math.atan2": _function("atan2", "trig", 2),
    "math.sinh": _function("sinh", "hyperbolic"),
    "math.cosh": _function("cosh", "hyperbolic"),
    "math.tanh": _function("tanh", "hyperbolic"),
    "math.erf": _function("erf", "erf"),
    "math.erfc": _function("erfc", "erf"),
    "math.ctpop": Operator(_plain("popcount({0})"), ("integer",)),
    "math.ctlz": Operator(_plain("clz({0})"), ("integer",)),
    "math.cttz": Operator(_plain("ctz({0})"), ("integer",)),
}
