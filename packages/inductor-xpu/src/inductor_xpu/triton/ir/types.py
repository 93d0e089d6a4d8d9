"""Types of Triton's IR."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Scalar:
    """A number: ``i1``, ``i32``, ``f32``, ``bf16``, ``f8E4M3FN``, ..., or a type that we do not know."""

    name: str

    @property
    def is_integer(self) -> bool:
        """True for integers and booleans."""
        return self.name == "index" or (self.name[0] == "i" and self.name[1:].isdigit())

    @property
    def is_float(self) -> bool:
        """True for floats of every width."""
        return self.name.startswith(("f", "bf"))

    @property
    def bits(self) -> int:
        """The width of the value."""
        if self.name == "index":
            return 64
        digits = "".join(c if c.isdigit() else " " for c in self.name).split()
        return int(digits[0])

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Pointer:
    """The address of a number in global memory."""

    pointee: Scalar | Pointer

    def __str__(self) -> str:
        return f"!tt.ptr<{self.pointee}>"


Element = Scalar | Pointer


@dataclass(frozen=True)
class Tensor:
    """A tile; every dimension is a power of two."""

    shape: tuple[int, ...]
    element: Element

    def __str__(self) -> str:
        return f"tensor<{''.join(f'{size}x' for size in self.shape)}{self.element}>"


Type = Scalar | Pointer | Tensor


def element_of(type: Type) -> Element:
    """Return the type of a tile's elements, or of a scalar."""
    return type.element if isinstance(type, Tensor) else type


def shape_of(type: Type) -> tuple[int, ...]:
    """Return the shape of a tile; () for a scalar."""
    return type.shape if isinstance(type, Tensor) else ()
