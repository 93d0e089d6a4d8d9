"""A line of the tables: an operator, what draws its arguments, and what its results promise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from generator import Generator

Arguments = tuple[list[Any], dict[str, Any]]

FOLDERS = {
    "F": torch.nn.functional,
    "special": torch.special,
    "linalg": torch.linalg,
    "fft": torch.fft,
    "Tensor": torch.Tensor,
    "aten": torch.ops.aten,
}


@dataclass(frozen=True)
class Operator:
    """``name`` is a function of torch, or of a folder as in ``special.erfcx``.

    ``slack`` is how many steps of its dtype a result may be off, at the element or at ``around`` if that
    is larger. ``cancels`` says that summands may cancel: a result may also be off by what the last digits
    of its arguments change. ``exact`` results are equal bit by bit. ``doubles`` is how far off the CPU's
    own f64 is, measured against more digits.
    ``strides`` says that PyTorch promises the strides of the results.
    """

    name: str
    arguments: Callable[[Generator], Arguments]
    slack: float = 16
    cancels: bool = False
    around: float = 0.0
    doubles: float = 0.0
    exact: bool = False
    strides: bool = False
    overlaps: bool = False
    modes: str = "fiog"
    composed: Callable[..., Any] | None = None

    @property
    def function(self) -> Callable[..., Any]:
        if self.composed:
            return self.composed
        folder, _, name = self.name.rpartition(".")
        return getattr(FOLDERS[folder] if folder else torch, name)

    @property
    def inplace(self) -> Callable[..., Any] | None:
        folder, _, name = self.name.rpartition(".")
        known = not self.composed and folder in ("", "Tensor", "special") and not name.endswith("_")
        return getattr(torch.Tensor, name + "_", None) if known else None

    @property
    def takes_out(self) -> bool:
        folder = self.name.rpartition(".")[0]
        if self.composed or folder not in ("", "special", "linalg", "fft"):
            return False
        return "out=None" in (self.function.__doc__ or "")


def lines(
    names: str, arguments: Callable[[Generator], Arguments], **promises: Any
) -> list[Operator]:
    """One line for each of the names."""
    return [Operator(name, arguments, **promises) for name in names.split()]
