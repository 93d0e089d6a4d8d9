"""Random expressions of tiles. Integers and floats stay small integers, so that all results are exact."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod

Shape = tuple[int, ...]
# Elements of a tile, and of the largest one that an operation makes on the way.
MAX_SIZE = 2048
_LOADED = {"i": ("i32", "i8", "i64", "b1", "i16"), "f": ("f32", "f16", "bf16")}
_TYPE = {"i": "tl.int32", "f": "tl.float32"}


@dataclass(frozen=True)
class Value:
    """A variable: ``kind`` is "i" for i32 and "f" for f32; a scalar has no shape."""

    name: str
    kind: str
    shape: Shape


class Scope:
    """The lines written so far and the variables that the next line may read."""

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        self.lines: list[str] = []
        self.values: list[Value] = []
        self.scratch: list[tuple[str, int]] = []
        self._indent = ""
        self._count = 0

    def number(self) -> int:
        """Return a new number for a name."""
        self._count += 1
        return self._count

    def line(self, text: str) -> None:
        """Add a line."""
        self.lines.append(self._indent + text)

    @contextmanager
    def nested(self) -> Iterator[None]:
        """Indent the lines of a `with` block; what it defines is gone after it."""
        before, indent = list(self.values), self._indent
        self._indent += "    "
        yield
        self.values, self._indent = before, indent

    def define(self, kind: str, shape: Shape, text: str) -> Value:
        """Give an expression a name."""
        value = Value(f"v{self.number()}", kind, shape)
        self.line(f"{value.name} = {text}")
        self.values.append(value)
        return value

    def shape(self) -> Shape:
        """Return a random shape."""
        dims = self.draw.choice((0, 1, 1, 2, 2, 2, 3))
        while True:
            shape = tuple(self.draw.choice((1, 2, 4, 8, 16, 32, 64)) for _ in range(dims))
            if prod(shape) <= MAX_SIZE // 2:
                return shape


def clamped(kind: str, text: str) -> str:
    """Return a number between -64 and 64 made of a larger one."""
    return f"({text}) % 61" if kind == "i" else f"tl.minimum(tl.maximum({text}, -64.0), 64.0)"


def expression(scope: Scope, kind: str, shape: Shape, depth: int) -> Value:
    """Return a variable of a kind and a shape, old or new."""
    draw = scope.draw
    known = [value for value in scope.values if (value.kind, value.shape) == (kind, shape)]
    if known and draw.random() < (0.8 if depth <= 0 else 0.25):
        return draw.choice(known)
    while True:
        rule = draw.choice(_LEAVES if depth <= 0 else _RULES)
        text = rule(scope, kind, shape, depth - 1)
        if text is not None:
            return scope.define(kind, shape, text)


def _constant(scope: Scope, kind: str, shape: Shape, depth: int) -> str | None:
    number = scope.draw.randint(-5, 5)
    return (
        f"tl.full({_list(shape)}, {number}, {_TYPE[kind]})"
        if shape
        else _typed(kind, f"program * {number}")
    )


def _typed(kind: str, text: str) -> str:
    return f"({text}).to({_TYPE[kind]})"


def _list(shape: Shape) -> str:
    return f"[{', '.join(map(str, shape))}]"


def _along(shape: Shape, dim: int) -> str:
    if len(shape) == 1:
        return f"tl.arange(0, {shape[0]})"
    index = ", ".join(":" if d == dim else "None" for d in range(len(shape)))
    return f"tl.arange(0, {shape[dim]})[{index}]"


def _range(scope: Scope, kind: str, shape: Shape, depth: int) -> str | None:
    if len(shape) != 1:
        return None
    start = scope.draw.choice((0, 0, shape[0]))
    return _typed(kind, f"tl.arange({start}, {start + shape[0]}) % 61")


def _load(scope: Scope, kind: str, shape: Shape, depth: int) -> str | None:
    draw, type = scope.draw, scope.draw.choice(_LOADED[kind])
    pointer = f"{type}_ptr + program * {draw.choice((0, 1, 64))}"
    if not shape:
        return _typed(kind, f"tl.load({pointer})")
    if depth > 0 and draw.random() < 0.2:
        places = expression(scope, "i", shape, depth)
        return _typed(kind, f"tl.load({pointer} + ({places.name} + 64))")
    order, step, terms, masks = list(range(len(shape))), 1, [], []
    draw.shuffle(order)
    for dim in order:
        along = _along(shape, dim)
        terms.append(f"{along} * {draw.choice((step, step, step, 0, 3, step + 1))}")
        # The interpreter's bf16 is wrong under masks.
        if type != "bf16" and draw.random() < 0.4:
            masks.append(
                f"({along} {draw.choice(('<', '>=', '!='))} {draw.randint(0, shape[dim])})"
            )
        step *= shape[dim]
    text = f"{pointer} + {' + '.join(terms)} + tl.zeros({_list(shape)}, tl.int32)"
    if masks:
        other = "" if type == "b1" else f", other={draw.randint(-4, 4)}"
        text += f", mask=tl.broadcast_to({' & '.join(masks)}, {_list(shape)})"
        text += other or ", other=0"
    return _typed(kind, f"tl.load({text})")


def _binary(scope: Scope, kind: str, shape: Shape, depth: int) -> str | None:
    a, b = (expression(scope, kind, shape, depth).name for _ in range(2))
    forms = ["{a} + {b}", "{a} - {b}", "{a} * {b}", "tl.minimum({a}, {b})", "tl.maximum({a}, {b})"]
    if kind == "i":
        forms += [
            "{a} & {b}",
            "{a} ^ {b}",
            "{a} | {b}",
            "{a} // ({b} * {b} + 1)",
            "{a} % ({b} * {b} + 1)",
        ]
        forms += ["{a} << ({b} & 3)", "{a} >> ({b} & 3)"]
    if not shape:
        forms += ["apart({a}, {b})"]
    return clamped(kind, scope.draw.choice(forms).format(a=a, b=b))


def _where(scope: Scope, kind: str, shape: Shape, depth: int) -> str | None:
    other = scope.draw.choice("if")
    c, d = (expression(scope, other, shape, depth).name for _ in range(2))
    a, b = (expression(scope, kind, shape, depth).name for _ in range(2))
    return f"tl.where({c} {scope.draw.choice(('<', '<=', '==', '!=', '>'))} {d}, {a}, {b})"


def _cast(scope: Scope, kind: str, shape: Shape, depth: int) -> str | None:
    other = "f" if kind == "i" else "i"
    value = expression(scope, other, shape, depth).name
    narrow = {
        "i": ("tl.int8", "tl.int64", "tl.int16"),
        "f": ("tl.float16", "tl.bfloat16", "tl.float64"),
    }
    return _typed(kind, f"{value}.to({scope.draw.choice(narrow[other])})")


def _broadcast(scope: Scope, kind: str, shape: Shape, depth: int) -> str | None:
    if not shape:
        return None
    small = tuple(scope.draw.choice((1, size)) for size in shape)
    if len(shape) > 1 and scope.draw.random() < 0.5:
        dim = scope.draw.randrange(len(shape))
        value = expression(scope, kind, (*shape[:dim], *shape[dim + 1 :]), depth)
        return f"tl.broadcast_to(tl.expand_dims({value.name}, {dim}), {_list(shape)})"
    value = expression(scope, kind, small, depth)
    return f"tl.broadcast_to({value.name}, {_list(shape)})"


def _reduce(scope: Scope, kind: str, shape: Shape, depth: int) -> str | None:
    size = scope.draw.choice((1, 2, 8, 16, 64))
    if prod(shape) * size > MAX_SIZE or len(shape) > 2:
        return None
    dim = scope.draw.randint(0, len(shape))
    value = expression(scope, kind, (*shape[:dim], size, *shape[dim:]), depth).name
    forms = [
        "tl.sum({v}, {d})",
        "tl.max({v}, {d})",
        "tl.min({v}, {d})",
        "tl.reduce({v}, {d}, largest)",
    ]
    if kind == "i":
        forms += ["tl.argmax({v}, {d})", "tl.argmin({v}, {d})", "tl.xor_sum({v}, {d})"]
        forms += ["tl.reduce(({v}, {v} % 7), {d}, later)[1]"]
    return clamped(kind, scope.draw.choice(forms).format(v=value, d=dim))


def _scan(scope: Scope, kind: str, shape: Shape, depth: int) -> str | None:
    if not shape:
        return None
    dim, reverse = scope.draw.randrange(len(shape)), scope.draw.choice((True, False))
    value = expression(scope, kind, shape, depth).name
    forms = [
        "tl.cumsum({v}, {d}, reverse={r})",
        "tl.associative_scan({v}, {d}, largest, reverse={r})",
    ]
    if kind == "i":
        forms += ["tl.associative_scan(({v} & 3, {v} & 7), {d}, linear, reverse={r})[1]"]
    return clamped(kind, scope.draw.choice(forms).format(v=value, d=dim, r=reverse))


def _permute(scope: Scope, kind: str, shape: Shape, depth: int) -> str | None:
    if len(shape) < 2:
        return None
    order = list(range(len(shape)))
    while order == sorted(order):
        scope.draw.shuffle(order)
    source = [0] * len(shape)
    for dim, of in enumerate(order):
        source[of] = shape[dim]
    value = expression(scope, kind, tuple(source), depth).name
    return f"tl.permute({value}, {order})"


def _reshape(scope: Scope, kind: str, shape: Shape, depth: int) -> str | None:
    if not shape:
        return None
    rest, sizes = prod(shape), []
    while rest > 1 and len(sizes) < 2 and scope.draw.random() < 0.7:
        size = 1 << scope.draw.randint(0, rest.bit_length() - 1)
        sizes.append(size)
        rest //= size
    source = (*sizes, rest)
    if max(source) > 64 * 16:
        return None
    return f"tl.reshape({expression(scope, kind, source, depth).name}, {_list(shape)})"


def _join(scope: Scope, kind: str, shape: Shape, depth: int) -> str | None:
    if len(shape) < 2 or shape[-1] != 2:
        return None
    a, b = (expression(scope, kind, shape[:-1], depth).name for _ in range(2))
    return f"tl.join({a}, {b})"


def _interleave(scope: Scope, kind: str, shape: Shape, depth: int) -> str | None:
    if not shape or shape[-1] < 2:
        return None
    half = (*shape[:-1], shape[-1] // 2)
    a, b = (expression(scope, kind, half, depth).name for _ in range(2))
    return f"tl.interleave({a}, {b})"


def _split(scope: Scope, kind: str, shape: Shape, depth: int) -> str | None:
    if not shape or len(shape) > 2 or 2 * prod(shape) > MAX_SIZE:
        return None
    value = expression(scope, kind, (*shape, 2), depth).name
    return f"tl.split({value})[{scope.draw.choice((0, 1))}]"


def _order(scope: Scope, kind: str, shape: Shape, depth: int) -> str | None:
    if not shape or not 1 < shape[-1] <= 64:
        return None
    value = expression(scope, kind, shape, depth).name
    form = scope.draw.choice(
        ("tl.flip({v}, {d})", "tl.sort({v}, {d})", "tl.sort({v}, {d}, descending=True)")
    )
    return form.format(v=value, d=len(shape) - 1)


def _gather(scope: Scope, kind: str, shape: Shape, depth: int) -> str | None:
    if not shape:
        return None
    dim = scope.draw.randrange(len(shape))
    size = scope.draw.choice((1, 4, 32))
    source = (*shape[:dim], size, *shape[dim + 1 :])
    if prod(source) > MAX_SIZE:
        return None
    value = expression(scope, kind, source, depth).name
    places = expression(scope, "i", shape, depth).name
    return f"tl.gather({value}, {places} & {size - 1}, {dim})"


def _dot(scope: Scope, kind: str, shape: Shape, depth: int) -> str | None:
    if kind != "f" or len(shape) != 2 or min(shape) < 16:
        return None
    inner = scope.draw.choice((16, 32))
    if inner * max(shape) > MAX_SIZE:
        return None
    a = expression(scope, kind, (shape[0], inner), depth).name
    b = expression(scope, kind, (inner, shape[1]), depth).name
    # The interpreter multiplies the bits of bf16.
    type = scope.draw.choice(("tl.float32", "tl.float16"))
    options = ', input_precision="ieee"' if type == "tl.float32" else ""
    return clamped(kind, f"tl.dot({a}.to({type}), {b}.to({type}){options})")


def _histogram(scope: Scope, kind: str, shape: Shape, depth: int) -> str | None:
    if kind != "i" or len(shape) != 1 or shape[0] < 2:
        return None
    value = expression(scope, "i", (scope.draw.choice((16, 64)),), depth).name
    return f"tl.histogram({value} & {shape[0] - 1}, {shape[0]})"


Rule = Callable[[Scope, str, Shape, int], str | None]
_LEAVES: tuple[Rule, ...] = (_constant, _range, _load, _load)
_RULES: tuple[Rule, ...] = (
    *(
        _load,
        _load,
        _binary,
        _binary,
        _binary,
        _where,
        _cast,
        _broadcast,
        _broadcast,
        _reduce,
        _reduce,
    ),
    *(_scan, _permute, _reshape, _join, _interleave, _split, _order, _gather, _dot, _histogram),
)
