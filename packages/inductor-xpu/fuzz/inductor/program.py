"""A random program: Python source of a function of tensors, whose shapes are followed on the meta device."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from integer_lines import host_numbers, integer_line
from statements import Statement

STEPS = 40
# Statements of integers far from zero behind the others.
INTEGER_STEPS = 4
FLOATS = (torch.float32, torch.float32, torch.float32, torch.bfloat16, torch.float16)

# Values stay small and functions smooth, so that eager and compiled differ by rounding alone.
UNARY = (
    *("torch.sin({})", "torch.cos({})", "torch.tanh({})", "torch.sigmoid({})", "{}.abs()", "-{}"),
    *("F.relu({})", "F.gelu({})", "F.gelu({}, approximate='tanh')", "F.silu({})", "torch.erf({})"),
    *("torch.sqrt({}.abs() + 1)", "torch.log1p({}.abs())", "torch.exp(-{}.abs())", "{} * 0.5 + 1"),
    *("torch.rsqrt({}.square() + 2)", "torch.clamp({}, -1.5, 1.25)", "F.softplus({})"),
    *("torch.atan({})", "({}.abs() + 0.25).reciprocal()", "F.leaky_relu({}, 0.1)"),
)
BINARY = (
    *("{} + {}", "{} - {}", "{} * {}", "torch.maximum({}, {})", "torch.minimum({}, {})"),
    *("{} / ({}.abs() + 1)", "torch.hypot({}, {})", "torch.lerp({}, {}, 0.25)", "{} + 2 * {}"),
)
# Of exact numbers, whose comparisons and positions rounding does not change.
EXACT = (
    *("{}.argmax({dim})", "{}.argmin({dim})", "({} > 0).sum({dim})", "({} != 0).any({dim})"),
    *("({} * 4).to(torch.int32)", "({} * 4).to(torch.int64) % 5", "({} * 4).to(torch.int64) // 3"),
    *("({} > 0.5)", "({} * 4).to(torch.int8)", "({} * 4).to(torch.int64) << 2", "{}.sign()"),
)
REDUCTIONS = (
    *("{}.sum({dim}, keepdim={keep})", "{}.mean({dim}, keepdim={keep})"),
    *("{}.amax({dim}, keepdim={keep})", "{}.amin({dim}, keepdim={keep})"),
    *("{}.var({dim}, keepdim={keep}, correction=0)", "torch.softmax({}, {dim})"),
    *("torch.log_softmax({}, {dim})", "torch.logsumexp({}, {dim}, keepdim={keep})"),
    *(
        "{}.sum({dims}, keepdim={keep})",
        "{}.mean({dims}, keepdim={keep})",
        "{}.cumsum({dim}) * 0.1",
    ),
    *("{}.sum()", "{}.amax({dims}, keepdim={keep})", "F.layer_norm({}, {}.shape[-1:], eps=0.1)"),
)
VIEWS = (
    *("{}.transpose({dim}, {other})", "{}.flip({dim})", "{}.unsqueeze({dim})", "{}.flatten({dim})"),
    *("{}.narrow({dim}, {start}, {length})", "{}.select({dim}, {start})", "{}.contiguous()"),
    *("torch.cat([{}, {}], {dim})", "F.pad({}, ({start}, 1))", "{}.roll(1, {dim})"),
    *("{}.index_select({dim}, {index})", "torch.stack([{}, {}], {dim})", "{}.movedim({dim}, -1)"),
    *("F.pad({}, (1, 2), value=0.5)", "{}.repeat_interleave(2, {dim})", "{}[..., ::2]"),
    *("torch.where({mask}, {}, 0.5)", "{}.masked_fill({mask}, -1)", "{}.triu()", "{}.clone()"),
)
MUTATIONS = (
    *("{new} = {}.clone(); {new}.add_({}.amax())", "{new} = {}.clone(); {new}[..., :1] = 0.5"),
    *("{new} = {}.clone(); {new}.mul_(0.5).add_(1)", "{new} = {}.clone(); {new}.fill_diagonal_(1)"),
    "{new} = {}.clone(); {new}.index_add_({dim}, {index}, {}.index_select({dim}, {index}))",
)
CONVERSIONS = (
    "{}.to(torch.bfloat16)",
    "{}.to(torch.float16)",
    "{}.to(torch.float32)",
    "{}.float()",
)


@dataclass(frozen=True)
class Input:
    """An input: quarters of whole numbers, seldom a NaN, in memory with these strides and this offset."""

    size: tuple[int, ...]
    stride: tuple[int, ...]
    offset: int
    dtype: torch.dtype
    seed: int

    @property
    def has_nan(self) -> bool:
        """Return True if its first element is not a number."""
        return self.seed % 16 == 0

    def make(self, dtype: torch.dtype | None = None) -> torch.Tensor:
        """Return the input on the CPU."""
        generator = torch.Generator().manual_seed(self.seed)
        count = (
            self.offset + 1 + sum((n - 1) * s for n, s in zip(self.size, self.stride, strict=True))
        )
        values = torch.randint(-8, 9, (max(count, 1),), generator=generator) / 4
        if self.has_nan:
            values[self.offset] = torch.nan
        whole = values.to(dtype or self.dtype)
        return whole.as_strided(self.size, self.stride, self.offset)


@dataclass
class Program:
    """Statements that define t0, t1, ...; the inputs are the first of them. ``updated``: their numbers.

    ``hosts`` are the values of the further arguments n0, n1, which are no tensors.
    """

    inputs: list[Input]
    statements: list[Statement] = field(default_factory=list)
    results: list[str] = field(default_factory=list)
    updated: list[int] = field(default_factory=list)
    hosts: tuple[int, ...] = ()

    @property
    def lines(self) -> list[str]:
        """The statements as Python source."""
        return [statement.text for statement in self.statements]

    @property
    def source(self) -> str:
        """The function as Python source."""
        inputs = [f"t{n}" for n in range(len(self.inputs))]
        names = ", ".join(inputs + [f"n{n}" for n in range(len(self.hosts))])
        body = "\n".join(f"    {line}" for line in self.lines)
        return f"def program({names}):\n{body}\n    return ({', '.join(self.results)},)\n"

    def function(self):
        """Return the function."""
        scope: dict = {"torch": torch, "F": F}
        exec(compile(self.source, "<program>", "exec"), scope)
        return scope["program"]


def sizes(draw: random.Random) -> tuple[int, ...]:
    """Return the sizes of a program: some dimensions around the number of lanes."""
    rank = draw.choice((1, 2, 2, 3, 3, 4))
    return tuple(draw.choice((1, 2, 3, 5, 7, 15, 16, 17, 33, 64, 100)) for _ in range(rank))


def strided(draw: random.Random, size: tuple[int, ...], dtype: torch.dtype) -> Input:
    """Return an input: contiguous, transposed, with gaps, or broadcast."""
    order = list(range(len(size)))
    style = draw.choice(("plain", "plain", "plain", "transposed", "gaps", "broadcast"))
    if style == "transposed":
        draw.shuffle(order)
    strides, step = [0] * len(size), draw.choice((1, 1, 2)) if style == "gaps" else 1
    for dim in reversed(order):
        strides[dim] = step
        step *= size[dim] + (draw.choice((0, 1, 3)) if style == "gaps" else 0)
    if style == "broadcast":
        strides[draw.randrange(len(size))] = 0
    offset = draw.choice((0, 0, 0, 1, 3))
    return Input(size, tuple(strides), offset, dtype, draw.getrandbits(30))


def _reduces_to(value: torch.Tensor, shape: Sequence[int]) -> bool:
    """Return True if means of the value along the dimensions of size 1 of the shape have that shape."""
    fits = all(wanted in (size, 1) for size, wanted in zip(value.shape, shape, strict=False))
    return value.is_floating_point() and value.dim() == len(shape) and fits


class Maker:
    """Adds random statements to a program."""

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        size = sizes(draw)
        dtype = draw.choice(FLOATS)
        shapes = [size] * 3 + [tuple(n if draw.random() < 0.6 else 1 for n in size)]
        self.program = Program([strided(draw, shape, dtype) for shape in shapes])
        self.values = {f"t{n}": i.make().to("meta") for n, i in enumerate(self.program.inputs)}
        # Values that are exact in every precision, so that their comparisons are too.
        self.exact = set(self.values)

    def make(self) -> Program:
        """Return a program of STEPS statements."""
        for _ in range(20 * STEPS):
            if len(self.program.statements) == STEPS:
                break
            self.step()
        floats = [name for name, value in self.values.items() if name[1:].isdigit()]
        self.program.results = floats[-4:]
        return self.program

    def update_inputs(self) -> None:
        """Add updates of parts of inputs by means of values, as a batch norm updates its statistics."""
        draw = self.draw
        for n, given in enumerate(self.program.inputs):
            target = self.values[f"t{n}"]
            dims = tuple(
                d for d, size in enumerate(target.shape) if draw.random() < 0.4 or size == 1
            )
            wanted = [1 if d in dims else size for d, size in enumerate(target.shape)]
            fitting = [name for name, v in self.values.items() if _reduces_to(v, wanted)]
            if 0 in given.stride or not fitting or draw.random() < 0.25:
                continue
            value, part = draw.choice(fitting[-6:]), f"t{n}"
            for d in dims:
                part += f".narrow({d}, 0, 1)"
            same = all(a == b for a, b in zip(self.values[value].shape, wanted, strict=True))
            # A view of the input, which is written, must be copied.
            value += ".clone()" if same else f".mean({dims}, keepdim=True)"
            line = f"{part}.mul_(0.75).add_({value}, alpha=0.25)"
            self.program.statements.append(Statement(line, given.dtype))
            self.program.updated.append(n)

    def add_integers(self) -> None:
        """Add statements of integers far from zero, which are results, too."""
        program = self.program
        program.hosts = host_numbers(self.draw)
        x = self.draw.choice([f"t{n}" for n in range(len(program.inputs))])
        scope = {x: program.inputs[int(x[1:])].make()}
        scope |= {f"n{n}": number for n, number in enumerate(program.hosts)}
        added = 0
        while added < INTEGER_STEPS:
            line = integer_line(self.draw, scope, x, added)
            if line:
                program.statements.append(Statement(line))
                program.results.append(line.split()[0])
                added += 1

    def step(self) -> None:
        """Add a statement, if it is one."""
        draw = self.draw
        kinds = (UNARY, BINARY, BINARY, REDUCTIONS, VIEWS, VIEWS, CONVERSIONS, MUTATIONS, EXACT)
        kind = draw.choices(kinds, (5, 5, 3, 4, 4, 3, 1, 2, 2))[0]
        template = draw.choice(kind)
        known = sorted(self.exact) if kind is EXACT else list(self.values)
        floats = [n for n in known if self.values[n].is_floating_point()]
        first = draw.choice(floats[-6:] if draw.random() < 0.7 else floats)
        rank = self.values[first].dim()
        second = draw.choice(floats[-6:])
        if rank == 0 and "{dim" in template:
            return
        dim, other = (draw.randrange(max(rank, 1)) for _ in range(2))
        size = self.values[first].shape[dim] if rank else 1
        if size == 0:
            return
        start = draw.randrange(size)
        names = [first, second] if template.count("{}") > 1 else [first]
        # The meta device does not check indices, which must be inside of both.
        differ = self.values[first].shape != self.values[second].shape
        if "layer_norm" in template or ("index_add" in template and differ):
            names = [first, first]
        new = f"t{len(self.values)}"
        index = f"torch.arange({size}, device={first}.device).flip(0)[: {max(1, size - start)}]"
        text = template.format(
            *names,
            new=new,
            dim=dim,
            other=other,
            dims=tuple(sorted({dim, other})),
            keep=draw.random() < 0.5,
            start=start,
            length=draw.randrange(1, size - start + 1),
            index=index,
            mask=f"({draw.choice(sorted(self.exact))} > 0.25)",
        )
        if kind is EXACT and any(given.has_nan for given in self.program.inputs):
            text = text.replace(" * 4)", ".nan_to_num() * 4)")  # a NaN has no integer
        line = text if kind is MUTATIONS else f"{new} = {text}"
        scope = {"torch": torch, "F": F, **self.values}
        try:
            exec(line, scope)
        except (RuntimeError, IndexError, ValueError, NotImplementedError):
            return  # the shapes do not fit
        value = scope[new]
        if value.numel() > 1 << 20 or value.dim() > 5:
            return
        rounds = kind not in (VIEWS, EXACT) and value.dtype != (
            self.values[first].dtype if kind is CONVERSIONS else None
        )
        statement = Statement(line, value.dtype if rounds else None, kind is REDUCTIONS)
        self.program.statements.append(statement)
        self.values[new] = value
        exact_views = kind is VIEWS and "stack" not in template and "cat" not in template
        if exact_views and first in self.exact:
            self.exact.add(new)
