"""C++ expressions that convert elements by value or by bits."""

from xpu_runtime.codegen.conversions import bits_of, convert, of_bits

__all__ = ["bits_of", "convert", "of_bits"]
