"""Products of matrices that the matrix units of an Intel GPU compute.

A sub-group multiplies 8 rows by as many columns as it has lanes. OpenCL's extension
cl_intel_subgroup_matrix_multiply_accumulate says which lane has what, so that the sum is an array of
registers like any other: a lane has a column, and 8 registers are its rows. Of each operand a lane has 8
words. A word of the left operand has neighboring columns of a row; one of the right operand has neighboring
rows of a column. The matrices of SYCL's joint_matrix are opaque instead: each sum would go through memory.
"""

from __future__ import annotations

from dataclasses import dataclass

from .ir.program import Block, Op, walk
from .ir.types import Element, Scalar, element_of, shape_of
from .layouts import Layout, Place, bits_of

# Rows of a result's fragment, and words that a lane has of each operand.
FRAGMENT_ROWS = 8
_FRAGMENT_BITS = bits_of(FRAGMENT_ROWS)
# Bytes of all words of a row of the left operand, and of a word of the right one.
_ROW_BYTES, _RIGHT_WORD_BYTES = 32, 4
# The types of operands that can be multiplied, and those of their sums.
_SUMS = {"bf16": ("f32", "f16", "bf16"), "f16": ("f32", "f16", "bf16"), "i8": ("i32",)}


@dataclass(frozen=True)
class MatrixProduct:
    """A product of matrices of elements of a type, computed by sub-groups of ``lanes``."""

    element: Scalar
    lanes: int

    @property
    def depth(self) -> int:
        """The number of columns of the left operand that are multiplied at once."""
        return _ROW_BYTES * 8 // self.element.bits

    @property
    def function(self) -> str:
        """The function that multiplies fragments and adds a third."""
        name = self.element.name
        return f"intel_sub_group_{name}_{name}_matrix_mad_k{self.depth}"

    def left_order(self, shape: tuple[int, ...]) -> tuple[Place, ...]:
        """Return the left operand's order in memory: for each bit of an offset, the coordinate's bit."""
        rows, columns = len(shape) - 2, len(shape) - 1
        packed = bits_of(_ROW_BYTES * 8 // (self.lanes * self.element.bits))
        lanes = [(columns, packed + bit) for bit in range(bits_of(self.lanes))]
        words = [(rows, bit) for bit in range(_FRAGMENT_BITS)]
        within = [*((columns, bit) for bit in range(packed)), *lanes, *words]
        return _followed_by_rest(within, shape, (columns, rows))

    def right_order(self, shape: tuple[int, ...]) -> tuple[Place, ...]:
        """Return the right operand's order in memory, in the same way."""
        rows, columns = len(shape) - 2, len(shape) - 1
        packed = bits_of(_RIGHT_WORD_BYTES * 8 // self.element.bits)
        lanes = [(columns, bit) for bit in range(bits_of(self.lanes))]
        words = [(rows, packed + bit) for bit in range(_FRAGMENT_BITS)]
        within = [*((rows, bit) for bit in range(packed)), *lanes, *words]
        return _followed_by_rest(within, shape, (rows, columns))

    def layout(self, shape: tuple[int, ...], teams: int) -> Layout:
        """Return the layout of the result, of which each team has about as many rows as columns."""
        rows, columns = len(shape) - 2, len(shape) - 1
        lanes = [(columns, bit) for bit in range(bits_of(self.lanes))]
        words = [(rows, bit) for bit in range(_FRAGMENT_BITS)]
        left = {dim: [(dim, bit) for bit in range(bits_of(size))] for dim, size in enumerate(shape)}
        left[rows], left[columns] = left[rows][len(words) :], left[columns][len(lanes) :]
        shared: list[Place | None] = []
        for _ in range(bits_of(teams)):
            batches = [dim for dim in range(rows) if left[dim]]
            taller = len(left[rows]) + len(words) >= len(left[columns]) + len(lanes)
            matrix = [rows, columns] if taller else [columns, rows]
            dim = next((dim for dim in (*batches, *matrix) if left[dim]), None)
            shared.append(None if dim is None else left[dim].pop())
        registers = [*words, *left[columns], *left[rows]]
        registers += [place for dim in range(rows) for place in left[dim]]
        return Layout(shape, tuple(lanes), tuple(shared), tuple(registers))


def _followed_by_rest(
    within: list[Place], shape: tuple[int, ...], matrix: tuple[int, int]
) -> tuple[Place, ...]:
    """Return the bits within a fragment, then those of its number."""
    dims = (*matrix, *reversed(range(len(shape) - 2)))
    rest = [(dim, bit) for dim in dims for bit in range(bits_of(shape[dim]))]
    return (*within, *(place for place in rest if place not in within))


def packed_type(element: Element) -> str:
    """Return the C++ type of an operand's elements in local memory."""
    return "i8" if element == Scalar("i8") else "u16"


def packed(element: Element, text: str) -> str:
    """Return the text of an operand's element as it is written to local memory."""
    return text if element == Scalar("i8") else f"triton::{element}_bits({text})"


def find_products(body: Block, lanes: int) -> dict[Op, MatrixProduct]:
    """Return the products that matrix units of sub-groups of ``lanes`` compute; 0 lanes stand for none."""
    found: dict[Op, MatrixProduct] = {}
    for op in walk(body) if lanes else ():
        if op.name == "tt.dot" and (product := _product_of(op, lanes)) is not None:
            found[op] = product
    return found


def _product_of(op: Op, lanes: int) -> MatrixProduct | None:
    left, right, result = (element_of(v.type) for v in (*op.operands[:2], op.result))
    if not (isinstance(left, Scalar) and left == right and isinstance(result, Scalar)):
        return None
    if result.name not in _SUMS.get(left.name, ()):
        return None
    product = MatrixProduct(left, lanes)
    rows, depth = shape_of(op.operands[0].type)[-2:]
    columns = shape_of(op.operands[1].type)[-1]
    fits = rows >= FRAGMENT_ROWS and columns >= lanes and depth >= product.depth
    return product if fits else None
