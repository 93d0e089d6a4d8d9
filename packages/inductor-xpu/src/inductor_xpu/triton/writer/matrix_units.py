"""Products of matrices by matrix units: operands in local memory, sums in registers."""

from __future__ import annotations

from functools import cache
from importlib import resources

from ..elements import is_narrow, rounded
from ..ir.program import Op
from ..ir.types import Scalar, element_of, shape_of
from ..layouts import Bit, Layout, Source, bits_of, number_text
from ..matrix import FRAGMENT_ROWS
from .group import UNROLLED
from .kernel import KernelWriter
from .storage import Slots

# Fragments whose sums stay in registers for all of K, along rows and columns.
_BLOCK = (4, 2)


def product_on_matrix_units(
    writer: KernelWriter, op: Op, layout: Layout, array: Slots, buffers: list[str]
) -> list[str]:
    """Return the loops over blocks of fragments of the result, and over K."""
    result, product = op.result, writer.choice.products[op]
    writer.preludes[functions()] = None
    rank = len(shape_of(result.type))
    skipped = {rank - 2: bits_of(FRAGMENT_ROWS), rank - 1: bits_of(product.lanes)}
    words, fragments = range(skipped[rank - 2]), range(skipped[rank - 2], len(layout.registers))
    inner = {
        dim: [i for i in fragments if layout.registers[i][0] == dim][: bits_of(size)]
        for dim, size in zip((rank - 2, rank - 1), _BLOCK, strict=True)
    }
    outer = [i for i in fragments if i not in inner[rank - 2] and i not in inner[rank - 1]]
    word, row, column, block, k = (writer.name(prefix) for prefix in ("w", "m", "n", "b", "k"))
    counters = {word: words, row: inner[rank - 2], column: inner[rank - 1], block: outer}
    sources: dict[int, Source] = {
        bit: Bit(name, index) for name, bits in counters.items() for index, bit in enumerate(bits)
    }
    steps = shape_of(op.operands[0].type)[-1] // product.depth
    widths = (
        writer.widths() | {name: len(bits) for name, bits in counters.items()} | {k: bits_of(steps)}
    )
    position = layout.position(sources.__getitem__)
    along_k = [Bit(k, i) for i in range(bits_of(steps))]

    def number(dim: int) -> str:
        """Return the number of an operand's fragment; it has a dimension of the result, and K."""
        bits = [*along_k, *position[dim][skipped[dim] :]]
        return number_text([*bits, *(s for d in reversed(position[:-2]) for s in d)], widths)

    fragment = array.eight(number_text((sources[i] for i in fragments), widths))
    rows, columns = 1 << len(inner[rank - 2]), 1 << len(inner[rank - 1])
    element = element_of(result.type)
    assert isinstance(element, Scalar)
    each_row = f"{UNROLLED} (i32 {row} = 0; {row} < {rows}; ++{row})"
    each_column = f"{UNROLLED} (i32 {column} = 0; {column} < {columns}; ++{column})"
    left, right = number(rank - 2), number(rank - 1)
    lines = [
        f"{UNROLLED} (i32 {block} = 0; {block} < {1 << len(outer)}; ++{block}) {{",
        f"  for (i32 {k} = 0; {k} < {steps}; ++{k}) {{",
        f"    triton::Eight<i32> y[{columns}];",
        f"    {each_column} y[{column}] = triton::fragment<i32>({buffers[1]}, {right});",
        f"    {each_row} {{",
        f"      const auto x = triton::fragment<triton::LeftWord>({buffers[0]}, {left});",
        f"      {each_column} {fragment} = {product.function}(x, y[{column}], {fragment});",
        "    }",
        "  }",
    ]
    if is_narrow(element):
        each_word = f"{UNROLLED} (i32 {word} = 0; {word} < {FRAGMENT_ROWS}; ++{word})"
        cell = f"{fragment}[{word}]"
        lines.append(f"  {each_row} {each_column} {each_word} {cell} = {rounded(element, cell)};")
    return [*lines, "}"]


@cache
def functions() -> str:
    """Return the functions of the device that these products call."""
    return resources.files("inductor_xpu.triton").joinpath("matrix.h").read_text()
