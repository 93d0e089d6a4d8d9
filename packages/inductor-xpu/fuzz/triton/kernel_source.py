"""The source of a random kernel: statements with tiles, loops and branches. Their values are stored."""

from __future__ import annotations

import random
from math import prod

import torch
from expressions import Scope, Value, clamped, expression

TYPES = {
    "i8": torch.int8,
    "i16": torch.int16,
    "i32": torch.int32,
    "i64": torch.int64,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "f32": torch.float32,
    "b1": torch.bool,
}
# Inputs: type, bounds and number of elements.
INPUTS = tuple(
    (name, 0 if name == "b1" else -8, 2 if name == "b1" else 9, 1 << 15)
    for name in ("i32", "f32", "i8", "i64", "f16", "bf16", "b1", "i16")
)
_HEAD = """\
import triton
import triton.language as tl


@triton.jit
def largest(a, b):
    return tl.maximum(a, b)


@triton.jit
def linear(a_scale, a_shift, b_scale, b_shift):
    return (a_scale * b_scale) % 5, (a_shift * b_scale + b_shift) % 5


@triton.jit
def later(a_value, a_place, b_value, b_place):
    takes = (b_value > a_value) | ((b_value == a_value) & (b_place < a_place))
    return tl.where(takes, b_value, a_value), tl.where(takes, b_place, a_place)


@triton.jit(noinline=True)
def apart(a, b):
    return a * 2 - b


@triton.jit
"""


class KernelSource:
    """A kernel and its launch: ``outputs`` has the type and size of each array that it writes."""

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        self.grid = (draw.choice((1, 2, 3)), draw.choice((1, 1, 2)), 1)
        self.trips = draw.choice((0, 1, 2, 3, 5))
        self.scope = Scope(draw)
        self.kinds: set[str] = set()
        for _ in range(draw.choice((2, 3, 4, 5))):
            self.statement(1)
        self.outputs: list[tuple[str, int]] = []
        self.stores = [line for value in self._results() for line in self._store(value)]
        self.text = self._text()
        self.subject = " ".join(sorted(self.kinds)) or "tiles"

    def statement(self, depth: int) -> None:
        """Add a statement: a value, or a loop or branch that gives some of the values new ones."""
        draw, values = self.draw, self.scope.values
        kind = draw.choice(("value", "value", "for", "while", "if", "memory", "scans", "scans"))
        if depth > 2 or not values:
            kind = "value"
        if kind == "value":
            expression(self.scope, draw.choice("if"), self.scope.shape(), 3)
            return
        self.kinds.add(kind)
        if kind == "memory":
            self._store_and_load()
            return
        if kind == "scans":
            self._scan_in_a_loop()
            return
        carried = draw.sample(values, min(len(values), draw.choice((1, 1, 2, 3))))
        number = self.scope.number()
        if kind == "for":
            head = f"for i{number} in range({draw.choice((0, 1, 2))}, trips):"
        elif kind == "while":
            self.scope.line(f"n{number} = trips")
            head = f"while n{number} > {draw.choice((0, 1))}:"
        else:
            condition = expression(self.scope, "i", (), 2)
            head = f"if {condition.name} > {draw.choice((-3, 0, 2))}:"
        branches = 2 if kind == "if" and draw.random() < 0.5 else 1
        for branch in range(branches):
            self.scope.line(head if branch == 0 else "else:")
            with self.scope.nested():
                if kind == "for":
                    # The interpreter's counter is an integer of Python.
                    self.scope.define("i", (), f"i{number} + program * 0")
                if depth < 2 and draw.random() < 0.3:
                    self.statement(depth + 1)
                # What later lines read under these names is of the trip before.
                for value in carried:
                    self.scope.define(value.kind, value.shape, value.name)
                for value in carried:
                    new = expression(self.scope, value.kind, value.shape, 2)
                    text = clamped(value.kind, f"{value.name} + {new.name}")
                    self.scope.line(f"{value.name} = {draw.choice((text, text, new.name))}")
                if kind == "while":
                    self.scope.line(f"n{number} -= 1")

    def _scan_in_a_loop(self) -> None:
        """Scan a tile of before in a loop, and exchange two that the loop carries."""
        tiles = [value for value in self.scope.values if value.shape]
        if not tiles:
            return
        tile = self.draw.choice(tiles)
        kind, shape = tile.kind, tile.shape
        given, first, second = (expression(self.scope, kind, shape, 1) for _ in range(3))
        given, first, second = (
            self.scope.define(kind, shape, clamped(kind, f"tl.cumsum({value.name} + {number}, 0)"))
            for number, value in enumerate((given, first, second))
        )
        self.scope.line(f"for i{self.scope.number()} in range(0, trips):")
        with self.scope.nested():
            step = given
            for reverse in (False, True, False):
                text = f"tl.cumsum({step.name}, {len(shape) - 1}, reverse={reverse})"
                step = self.scope.define(kind, shape, clamped(kind, text))
            self.scope.line(f"{first.name}, {second.name} = {second.name}, {first.name}")
            self.scope.line(f"{first.name} = {clamped(kind, f'{first.name} + {step.name}')}")
        # Only the loop reads it: what each trip needs must be there until the last.
        self.scope.values.remove(given)

    def _store_and_load(self) -> None:
        """Store a tile and load it in another order, by way of memory of the program's own."""
        tiles = [value for value in self.scope.values if len(value.shape) == 2]
        if not tiles:
            return
        value, number = self.draw.choice(tiles), self.scope.number()
        rows, columns = value.shape
        pointer = f"w{number}"
        self.scope.scratch.append((value.kind, prod(value.shape)))
        place = f"s{len(self.scope.scratch) - 1}_ptr + program * {prod(value.shape)}"
        self.scope.line(f"{pointer} = {place}")
        i, j = f"tl.arange(0, {rows})[:, None]", f"tl.arange(0, {columns})[None, :]"
        self.scope.line(f"tl.store({pointer} + {i} * {columns} + {j}, {value.name})")
        self.scope.line("tl.debug_barrier()")
        i, j = f"tl.arange(0, {columns})[:, None]", f"tl.arange(0, {rows})[None, :]"
        self.scope.define(
            value.kind, (columns, rows), f"tl.load({pointer} + {j} * {columns} + {i})"
        )

    def _results(self) -> list[Value]:
        return self.scope.values[-6:]

    def _store(self, value: Value) -> list[str]:
        """Return the lines that store a value into an array of its own."""
        draw, number = self.draw, len(self.outputs)
        size = prod(value.shape)
        programs = prod(self.grid)
        type = draw.choice(("i32", "i64") if value.kind == "i" else ("f32", "f32", "f16"))
        base = f"o{number}_ptr + program * {size}"
        if not value.shape:
            if draw.random() < 0.3:
                self.kinds.add("atomic")
                self.outputs.append(("i32" if value.kind == "i" else "f32", 1))
                return [f"tl.atomic_add(o{number}_ptr, {value.name})"]
            self.outputs.append((type, programs))
            return [f"tl.store({base}, {value.name})"]
        if draw.random() < (0.5 if size < 16 else 0.15):
            self.kinds.add("atomic")
            self.outputs.append(("i32" if value.kind == "i" else "f32", size))
            call = draw.choice(("add", "max", "min"))
            # The interpreter reads the operand of an atomic wrongly unless it is an array of one dimension.
            mask = f"tl.arange(0, {size}) < {draw.randint(0, size)}"
            flat = f"tl.reshape({value.name}, [{size}]) + 0"
            return [f"tl.atomic_{call}(o{number}_ptr + tl.arange(0, {size}), {flat}, mask={mask})"]
        places, mask = self._places(value.shape)
        self.outputs.append((type, size * programs))
        return [f"tl.store({base} + {places}, {value.name}, mask={mask})"]

    def _places(self, shape: tuple[int, ...]) -> tuple[str, str]:
        """Return distinct numbers for the elements of a tile, and a mask of some of them."""
        order = list(range(len(shape)))
        self.draw.shuffle(order)
        step, terms, masks = 1, [], []
        for dim in order:
            index = ", ".join(":" if d == dim else "None" for d in range(len(shape)))
            text = f"tl.arange(0, {shape[dim]})" + (f"[{index}]" if len(shape) > 1 else "")
            terms.append(f"{text} * {step}")
            if self.draw.random() < 0.3:
                masks.append(f"({text} < {self.draw.randint(0, shape[dim])})")
            step *= shape[dim]
        return f"({' + '.join(terms)})", " & ".join(masks) or "None"

    def _text(self) -> str:
        pointers = [f"{name}_ptr" for name, *_ in INPUTS]
        self.outputs += [
            ("i32" if kind == "i" else "f32", size * prod(self.grid))
            for kind, size in self.scope.scratch
        ]
        count = len(self.outputs) - len(self.scope.scratch)
        pointers += [f"o{number}_ptr" for number in range(count)]
        pointers += [f"s{number}_ptr" for number in range(len(self.scope.scratch))]
        lines = [
            f"def kernel({', '.join([*pointers, 'trips'])}):",
            f"    program = tl.program_id(0) + tl.program_id(1) * {self.grid[0]}",
            *(f"    {line}" for line in [*self.scope.lines, *self.stores]),
        ]
        return _HEAD + "\n".join(lines) + "\n"
