"""A replacement of an object of PyTorch's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Patch:
    """``name`` in ``module`` becomes ``replace`` of the stock object."""

    module: str
    name: str
    reason: str
    replace: Callable[[Any], Any]
