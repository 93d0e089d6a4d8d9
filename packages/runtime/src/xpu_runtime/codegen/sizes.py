"""Sizes of loop programs: numbers, symbols, and their products."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Symbol:
    """A size or stride that is known when the kernel is launched: an i64 argument of the kernel.

    The kernel's form is chosen for the value ``hint``, and the results are right for every value.
    """

    name: str  # a C++ identifier
    hint: int

    @property
    def argument(self) -> str:
        """The C++ name of the i64 argument; the symbol's own name has the type of positions."""
        return f"{self.name}_arg"

    def __mul__(self, other: Extent) -> Extent:
        return Product(1, (self,)) * other

    __rmul__ = __mul__

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Product:
    """A number times symbols, which are sorted, so that equal products compare equal."""

    number: int
    symbols: tuple[Symbol, ...]

    @property
    def hint(self) -> int:
        """The product for the hints of its symbols."""
        value = self.number
        for symbol in self.symbols:
            value *= symbol.hint
        return value

    def __mul__(self, other: Extent) -> Extent:
        number, symbols = self.number, list(self.symbols)
        if isinstance(other, Symbol):
            symbols.append(other)
        elif isinstance(other, Product):
            number *= other.number
            symbols += other.symbols
        else:
            number *= other
        if number == 0:
            return 0
        if number == 1 and len(symbols) == 1:
            return symbols[0]
        return Product(number, tuple(sorted(symbols, key=lambda symbol: symbol.name)))

    __rmul__ = __mul__

    def __str__(self) -> str:
        return f"({' * '.join(map(str, factors(self)))})"


Size = int | Symbol
# What products of sizes give: the number of elements of several dimensions, and strides.
Extent = int | Symbol | Product
# For isinstance(), which is slower with a union.
SYMBOLIC = (Symbol, Product)


def hint_of(extent: Extent) -> int:
    """Return the number for which a kernel's form is chosen."""
    return extent.hint if isinstance(extent, SYMBOLIC) else extent


def symbols_of(extent: Extent) -> tuple[Symbol, ...]:
    """Return the symbols on which the value depends."""
    if isinstance(extent, Symbol):
        return (extent,)
    return extent.symbols if isinstance(extent, Product) else ()


def factors(extent: Extent) -> tuple[int | str, ...]:
    """Return the value as plain data: numbers, and names of symbols, to be multiplied."""
    names = tuple(symbol.name for symbol in symbols_of(extent))
    if isinstance(extent, Symbol):
        return names
    number = extent.number if isinstance(extent, Product) else extent
    return names if names and number == 1 else (number, *names)
