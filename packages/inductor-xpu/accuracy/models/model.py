"""An entry of the tables of models: how it is made, and inputs for any batch size."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch


@dataclass(frozen=True)
class Model:
    """A network with random weights, and random inputs of `n` samples, by the names of parameters.

    ``tolerance`` is for bf16 and amp, where errors are known to vary; a comment beside the entry says why.
    """

    make: Callable[[], torch.nn.Module]
    inputs: Callable[[int], Mapping[str, Any]]
    tolerance: float | None = None


def integers(high: int, *sizes: int) -> torch.Tensor:
    """Return random integers below `high`."""
    return torch.randint(high, sizes)
