"""Element and array types, with their names in StableHLO, PJRT, the runtime and kernels."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from functools import cached_property

import ml_dtypes
import numpy as np
from xpu_runtime.codegen import elements
from xpu_runtime.codegen.affine import row_major


class Element(elements.Element):
    """An element type of StableHLO, under its name there."""

    @cached_property
    def numpy(self) -> np.dtype:
        """The type of an element on the host."""
        return np.dtype(getattr(ml_dtypes, self.numpy_name, self.numpy_name))

    @property
    def runtime(self) -> str:
        """The runtime's dtype of the stored element."""
        return self.dtype


ELEMENTS = {
    element.stablehlo: Element(**{**asdict(element), "name": element.stablehlo})
    for element in elements.ELEMENTS.values()
    if element.stablehlo
}

TOKEN = Element("token", "token", 8, "u8", "bool", "bool", pjrt=23, numpy_name="bool")


def unknown(name: str) -> Element:
    """Return an element type that no operation supports; each use is rejected with its name."""
    return Element(name, "unknown", 8, "u8", "u8", "u8", numpy_name="uint8")


@dataclass(frozen=True)
class Type:
    """An array's element type and shape."""

    element: Element
    shape: tuple[int, ...]

    @cached_property
    def count(self) -> int:
        """Number of elements; 1 for a scalar."""
        return math.prod(self.shape)

    @property
    def bytes(self) -> int:
        """Bytes of a contiguous array of the type; 0 for a token, which has no memory."""
        return 0 if self.element is TOKEN else self.count * self.element.size

    @cached_property
    def strides(self) -> tuple[int, ...]:
        """Row-major, in elements."""
        return row_major(self.shape)

    def __str__(self) -> str:
        return f"{self.element.name}[{','.join(map(str, self.shape))}]"
