"""Loops over the registers of a tile, filled one operation after another."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..ir.program import Op, Value
from ..layouts import Bit, Layout, Place, Position, Source, bits_of
from .linear import Linear

# Into how many parts a long reduction is divided.
PARTS = 4
UNROLLED = '_Pragma("unroll") for'


@dataclass(frozen=True)
class Expr:
    """C++ text of a value, and the depth of the scope that has all that the text names.

    Of an address ``text`` is the base and ``offset`` counts elements. Unless the condition ``jumps`` holds,
    which is the same for all lanes, the offset is ``even``: that of neighbors.
    """

    text: str
    depth: int = 0
    offset: str = ""
    even: str = ""
    jumps: str = ""

    @property
    def address(self) -> str:
        """The text of an address, base and offset added."""
        return f"({self.text} + {self.offset})" if self.offset else self.text

    @property
    def element(self) -> str:
        """The text of the element at an address."""
        return f"{self.text}[{self.offset or 0}]"


@dataclass(frozen=True)
class LocalBuffer:
    """A part of local memory: the name of its pointer, its elements' C++ type, and where it is.

    Elements lie there in row-major order, or as matrix units need them: ``order`` then has the bits of the
    tile's coordinates, lowest first.
    """

    name: str
    type: str
    offset: int
    order: tuple[Place, ...] = ()


@dataclass
class Scope:
    """Lines of a C++ block, and the values that have names in it."""

    lines: list[str] = field(default_factory=list)
    memo: dict[tuple[Value, Position], Expr] = field(default_factory=dict)
    sums: dict[tuple[Value, Position], Linear] = field(default_factory=dict)
    texts: dict[str, Expr] = field(default_factory=dict)


@dataclass
class Group:
    """Two loops over the registers of a tile: the outer over those that a reduction keeps.

    Scope 0 is before the loops, scope 1 in the outer one, scope 2, if the group reduces, in the inner one.
    More
    scopes are loops of the user's within.
    """

    number: int
    first: Op
    layout: Layout
    axes: tuple[int, ...]  # the numbers of the register bits along which it reduces
    outer: str
    inner: str
    reverse: bool = False
    reduces: bool = False  # an operation in it reduces
    uses_arrays: bool = False  # it reads or writes arrays of registers
    has_loop: bool = False  # a loop of the user's is within
    scopes: list[Scope] = field(default_factory=list)
    tail: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)
    results: set[Value] = field(default_factory=set)  # values in arrays that this group fills
    reads: dict[Value, set[str]] = field(default_factory=dict)  # registers of arrays that are read
    converted: dict[Value, LocalBuffer] = field(default_factory=dict)  # copies in local memory
    buffers: list[LocalBuffer] = field(default_factory=list)  # free after the group

    def __post_init__(self) -> None:
        self.scopes = [Scope(), Scope()] + ([Scope()] if self.axes else [])
        outer_bits = [i for i in range(len(self.layout.registers)) if i not in self.axes]
        self._sources: dict[int, Source] = {}
        for variable, numbers in ((self.outer, outer_bits), (self.inner, self.axes)):
            for rank, number in enumerate(numbers):
                self._sources[number] = Bit(variable, rank)
        self.outer_size, self.inner_size = 1 << len(outer_bits), 1 << len(self.axes)

    @property
    def parts(self) -> int:
        """The number of parts that the inner loop reduces side by side: a sum waits for the one before."""
        return PARTS if self.reduces and self.inner_size >= 2 * PARTS else 1

    @property
    def part(self) -> str:
        """The text of the number of the current part."""
        return f"{self.inner}_part" if self.parts > 1 else "0"

    @property
    def step(self) -> str:
        """The name of the counter of elements of a part."""
        return f"{self.inner}_step" if self.parts > 1 else self.inner

    @property
    def depth(self) -> int:
        """The depth of the innermost scope."""
        return len(self.scopes) - 1

    def position(self, layout: Layout) -> Position:
        """Return the position of the current element of a tile of the group's structure."""
        return layout.position(self._sources.__getitem__)

    def outer_sources(self) -> tuple[Source, ...]:
        """Return the bits of the outer loop's counter."""
        return tuple(Bit(self.outer, i) for i in range(bits_of(self.outer_size)))

    @property
    def widths(self) -> dict[str, int]:
        """The widths of the loops' counters in bits."""
        return {self.outer: bits_of(self.outer_size), self.inner: bits_of(self.inner_size)}

    def depth_of(self, position: Position) -> int:
        """Return the depth of the scope in which a position is known."""
        depth = 0
        for dim in position:
            for source in dim:
                if isinstance(source, Bit):
                    depth = max(depth, {self.outer: 1, self.inner: 2}.get(source.variable, 0))
        return depth

    def find(self, value: Value, position: Position) -> Expr | None:
        """Return the text that a value has at a position, in the scopes that are open."""
        for scope in reversed(self.scopes):
            found = scope.memo.get((value, position))
            if found is not None:
                return found
        return None

    def lines(self, loop: str) -> list[str]:
        """Return the lines of the whole; ``loop`` is the keyword of long loops, UNROLLED that of all."""
        body = list(self.scopes[1].lines)
        if self.axes:
            inner = self.scopes[2].lines
            if self.parts > 1:
                body += self._loop_in_parts(loop, inner)
            else:
                body += _loop(loop, self.inner, self.inner_size, inner, self.reverse)
        body += self.tail
        return [
            *self.scopes[0].lines,
            *_loop(loop, self.outer, self.outer_size, body),
            *self.after,
        ]

    def _loop_in_parts(self, keyword: str, lines: list[str]) -> list[str]:
        size = self.inner_size // self.parts
        return [
            f"{keyword} (i32 {self.step} = 0; {self.step} < {size}; ++{self.step}) {{",
            f"  {UNROLLED} (i32 {self.part} = 0; {self.part} < {self.parts}; ++{self.part}) {{",
            f"    const i32 {self.inner} = {self.part} * {size} + {self.step};",
            *(f"    {line}" for line in lines),
            "  }",
            "}",
        ]


def _loop(
    keyword: str, counter: str, size: int, lines: list[str], reverse: bool = False
) -> list[str]:
    if not lines:
        return []
    if size == 1:
        return lines
    keyword = "for" if size <= 4 and keyword != UNROLLED else keyword
    head = f"{keyword} (i32 {counter} = 0; {counter} < {size}; ++{counter}) {{"
    if reverse:
        head = f"{keyword} (i32 {counter} = {size - 1}; {counter} >= 0; --{counter}) {{"
    return [head, *(f"  {line}" for line in lines), "}"]
