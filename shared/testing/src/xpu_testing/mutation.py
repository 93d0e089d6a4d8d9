"""Faults put into the results of a fuzzer's cases, to find out whether the fuzzer notices them."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

from .float_formats import format_of

KINDS = ("zeros", "tail", "element", "nan")
DTYPES = ("f32", "bf16", "f16", "int")
# A fault that is smaller than this part of the element may be within what rounding explains.
_VISIBLE = 1 / 4


def mutated(values: Any, kind: str, draw: random.Random) -> Any:
    """Return a copy of an array (NumPy or PyTorch on the CPU) with a fault, None if nothing changes.

    ``zeros``: all elements are zero. ``tail``: the last eighth is. ``element``: one is another's value.
    ``nan``: one NaN is lost.
    """
    whole = values.copy() if hasattr(values, "copy") else values.clone()
    flat = whole.reshape(-1)
    count = len(flat)
    if count == 0:
        return None
    if kind in ("zeros", "tail"):
        flat[0 if kind == "zeros" else count - -(-count // 8) :] = 0
    elif kind == "element":
        at = draw.randrange(count)
        flat[at] = _other(flat, at, draw)
    else:
        places = (flat != flat).nonzero()
        places = (places[0] if isinstance(places, tuple) else places.reshape(-1)).tolist()
        if not places:
            return None
        flat[draw.choice(places)] = 1
    before = values.reshape(-1)
    same = (flat == before) | ((flat != flat) & (before != before))
    return None if bool(same.all()) else flat.reshape(values.shape)


def _other(flat: Any, at: int, draw: random.Random) -> Any:
    """Return a visibly different value: of another element, if there is one."""
    own = flat[at].item() if hasattr(flat[at], "item") else flat[at]
    for _ in range(16):
        other = flat[draw.randrange(len(flat))].item()
        if isinstance(own, bool | int):
            if other != own:
                return other
        elif (other != other) != (own != own) or abs(other - own) > _VISIBLE * abs(own):
            return other
    if isinstance(own, bool):
        return not own
    return own + 1 if isinstance(own, int) or not abs(own) < float("inf") else own * 1.5 or 1.0


class Mutations:
    """Mutates results of cases. ``noticed`` has the difference that each fault made in a case, or None."""

    def __init__(
        self, kinds: Sequence[str], dtypes: Sequence[str], different: type[Exception]
    ) -> None:
        """``different`` is the exception that a judge raises."""
        self._kinds, self._dtypes, self._different = kinds, dtypes, different
        self._draw = random.Random(0)
        self.noticed: dict[str, Any] = {}

    def begin(self, draw: random.Random) -> None:
        """Begin a case, with its random numbers."""
        self._draw, self.noticed = draw, {}

    def check(
        self, results: Sequence[Any], dtypes: Sequence[object], judge: Callable[[list[Any]], Any]
    ) -> None:
        """Judge the results once with each fault: in one result of each dtype, if it changes one."""
        for dtype in self._dtypes:
            numbers = [n for n, each in enumerate(dtypes) if _name(each) == dtype]
            self._draw.shuffle(numbers)
            for kind in self._kinds:
                for number in numbers:
                    wrong = mutated(results[number], kind, self._draw)
                    if wrong is None:
                        continue
                    changed = list(results)
                    changed[number] = wrong
                    self.noticed[f"{kind} {dtype}"] = self._difference(changed, judge)
                    break

    def _difference(self, changed: list[Any], judge: Callable[[list[Any]], Any]) -> Any:
        """Return the difference that a judge raises about changed results, None if it accepts them."""
        try:
            judge(changed)
        except self._different as error:
            return error
        return None


def _name(dtype: object) -> str:
    """Return which of DTYPES a dtype is, "" if it is none or complex."""
    name = str(dtype).removeprefix("torch.")
    if name.startswith(("complex", "c64", "c128")):
        return ""
    about = format_of(dtype)
    if about is not None:
        return about.name
    return "int" if name.startswith(("int", "uint", "i", "u")) else ""
