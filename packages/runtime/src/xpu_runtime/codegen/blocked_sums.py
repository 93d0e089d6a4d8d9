"""Write folds whose accumulators are sums of blocks: device/xpu/blocked_sums.h says why."""

from __future__ import annotations

from collections.abc import Sequence

from .program import Fold
from .render import Renderer

HEADER = "blocked_sums"
_BLOCK = 64  # updates, as in the device library


def needs_blocks(fold: Fold, updates: int) -> bool:
    """Return True if an accumulator of ``fold`` has so many updates that their errors would add up."""
    return fold.rounds and updates > _BLOCK


def define_both(number: int, fold: Fold, renderer: Renderer, captured: str = "") -> list[str]:
    """Define the function that combines two partial results of a fold."""
    members = range(len(fold.types))
    own, other = [f"s{k}" for k in members], [f"r{k}" for k in members]
    left = " ".join(f"auto& {s} = a.{s};" for s in own)
    right = " ".join(f"[[maybe_unused]] auto& {r} = b.s{k};" for k, r in enumerate(other))
    return [
        f"auto both{number} = [{captured}](S{number} a, S{number} b) {{ {left} {right}",
        *renderer.body(fold.combine, [*own, *other]),
        "return a; };",
    ]


def declare_sums(number: int, fold: Fold, count: int) -> list[str]:
    """Declare ``count`` accumulators of a fold, whose function has been defined."""
    type = f"S{number}"
    return [
        f"const {type} none{number} = {type}{{{', '.join(fold.identities)}}};",
        f"BlockedSums<{type}, {count}> sums{number}(none{number});",
        f"{type} (&a{number})[{count}] = sums{number}.s;",
    ]


def loop_in_blocks(
    numbers: Sequence[int],
    index: str,
    counter: str,
    end: str,
    step: str,
    loop: str,
    body: Sequence[str],
) -> list[str]:
    """Write the loop of ``counter`` to ``end`` in whole steps: each updates each accumulator once."""
    updates = f"updates_{counter}"
    return [
        f"while ({counter} + {step} <= {end}) {{",
        f"{index} {updates} = ({end} - {counter}) / ({step});",
        *(f"{updates} = ({index})sums{n}.room({updates}, none{n}, both{n});" for n in numbers),
        f"const {index} end_{counter} = {counter} + {updates} * ({step});",
        f"{loop} (; {counter} < end_{counter}; {counter} += {step}) {{",
        *body,
        "}",
        *(updated(n, updates) for n in numbers),
        "}",
    ]


def updated(number: int, count: int | str) -> str:
    """Tell a fold's accumulators that each has had ``count`` updates."""
    return f"sums{number}.updated({count});"


def finish(number: int) -> str:
    """Put the sums of all updates into the accumulators."""
    return f"sums{number}.finish(both{number});"
