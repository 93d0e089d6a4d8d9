"""Random statements of integers far from zero: constants, numbers of the host, products of sizes, positions.

No statement leaves the range of int64, beyond which the results of divisions mean nothing.
"""

from __future__ import annotations

import random
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_map

LIMIT = 2**62
# Around these constants, counters, positions and products leave 32 bits.
POWERS = (2**31, 2**31, 2**32, 2**33, 2**40, 3_000_000_000)
# Numbers of the host, in terms of n0 and n1 and of a tensor's sizes.
HOST = (
    *("n0", "n1", "n0 + n1", "n0 - n1", "n0 * 3", "-n0", "n0 // 3", "n1 // -7", "n0 % 1000"),
    *("n0 % {x}.shape[0]", "{x}.shape[0] ** 3", "{x}.shape[0] ** 4", "{x}.numel() ** 2"),
    *("n0 + {x}.shape[0]", "n1 * {x}.shape[0]", "-({x}.shape[0] ** 3)", "n1 % 7"),
)
POSITIONS = "torch.arange({x}.shape[0], device={x}.device)"
VALUES = (
    *("{p} * {c}", "{p} + {c}", "{c} - {p}", "{p} * {h}", "{p} + {h}", "{h} - {p}"),
    *("torch.full(({x}.shape[0],), {h}, device={x}.device)", "{p} * 40503 * {small} + {c}"),
    *("{p}.flip(0) * {c}", "({p} + {h}).float()", "{p}.float() ** 2", "{p} * {p} * {h}"),
    *("({p} + {h}) // {d}", "({p} * {c}) // {d}", "({p} + {h}) % {d}", "({p} - {c}) % {d}"),
    *("torch.fmod({p} + {h}, {d})", "(({p} + {h}) // {d}).clamp({c}, {c2})", "({p} - 7) // {d}"),
    *("torch.where({p} + {h} > {h2}, {p} * {c}, {h})", "torch.where({p} * {c} < {c2}, {v}, {h})"),
    *("{v} + {h}", "{v} - {c}", "{v} * {small}", "{v} * {h}", "{v} // {d}", "{v} % {d}", "-{v}"),
    *("{v} & {c}", "{v} ^ {h}", "{v}.abs()", "torch.maximum({v}, {p} * {c})", "{v}.clamp(min={h})"),
    *("{v}.sum() + {p}", "{v}.amax() - {v}", "{v} > {h}", "{v} >> 3", "({p} + {h}) // 3 * {small}"),
    *("{v}[{p} * 40503 % {x}.shape[0]]", "{v}[({p} * {p}) % {x}.shape[0]]", "{v}[({v} % 5) - 5]"),
    *("{v}[({p} + {h}) // 3 % {x}.shape[0]]", "{v}[({p} * {c} + {h}) % {x}.shape[0]]"),
    *("{v}[{p} % 7 - 7]", "{v}[({p} - {x}.shape[0]) // 2]", "{v}[{x}.shape[0] // 3 :].sum() + {p}"),
    *("{v}[:1].expand({power})[{v} % {power}]", "{p}[:1].expand({power})[{p} * 1003 - 1] + {p}"),
    "{v}[:1].expand({power}).narrow(0, {power} - {x}.shape[0], {x}.shape[0]) + {p}",
)


class _Exact(TorchFunctionMode):
    """Raises OverflowError where sums and products of int64 come near the end of its range."""

    def __torch_function__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        result = function(*args, **(kwargs or {}))
        name = getattr(function, "__name__", "").strip("_")
        if name in ("add", "radd", "sub", "rsub", "mul", "rmul", "sum"):
            wide = function(*tree_map(_as_double, args))
            if wide.numel() and wide.abs().max() >= LIMIT:
                raise OverflowError(f"{name} leaves int64")
        return result


def _as_double(value: Any) -> Any:
    return value.double() if isinstance(value, torch.Tensor) else value


def constant(draw: random.Random, powers: tuple[int, ...] = POWERS) -> int:
    """Return an integer near one of the powers, of either sign."""
    return draw.choice((1, 1, -1)) * (draw.choice(powers) + draw.choice((-1, 0, 0, 1, 17)))


def host_numbers(draw: random.Random) -> tuple[int, int]:
    """Return numbers for n0 and n1, each small or large."""
    small = (-1, -5, -7, 3, 100, -1000)
    one, other = (draw.choice((constant(draw), draw.choice(small))) for _ in range(2))
    return one, other


def run_exactly(source: str, scope: dict[str, Any]) -> None:
    """Run statements on the CPU; raise OverflowError where a number leaves int64."""
    with _Exact():
        exec(source, {"torch": torch}, scope)


def integer_line(draw: random.Random, scope: dict[str, Any], x: str, number: int) -> str | None:
    """Return a statement that defines a name with this number, or None if the one drawn does not fit.

    ``scope`` has the values of all names on the CPU, to which the new one is added. ``x`` is a tensor's name:
    its first size is that of all vectors. Those of integers are called v0, v1, …, those of floats f0, f1, ….
    No later statement uses floats, because Inductor computes with positions exactly, also where floats round.
    """
    vectors = [name for name in scope if name.startswith("v")]
    template = draw.choice(VALUES)
    if "{v}" in template and not vectors:
        return None
    low, high = sorted(constant(draw) for _ in range(2))
    text = template.format(
        p=POSITIONS.format(x=x),
        x=x,
        h=f"({draw.choice(HOST).format(x=x)})",
        h2=f"({draw.choice(HOST).format(x=x)})",
        c=low,
        c2=high,
        d=draw.choice((3, 7, -3, 1000, 2**31, 2**33 + 1, -(2**40))),
        v=draw.choice(vectors[-3:]) if vectors else "",
        small=draw.choice((2, 3, -5)),
        power=draw.choice((2**31 + 3, 2**33, 2**40)),
    )
    inner = dict(scope)
    is_float = "float()" in template
    new = f"{'f' if is_float else 'v'}{number}"
    line = f"{new} = {text}" if is_float else f"{new} = ({text}).to(torch.int64)"
    try:
        run_exactly(line, inner)
    except (RuntimeError, IndexError, OverflowError):
        return None  # the sizes do not fit, or a number leaves int64
    if inner[new].shape != scope[x].shape[:1]:
        return None
    scope[new] = inner[new]
    return line
