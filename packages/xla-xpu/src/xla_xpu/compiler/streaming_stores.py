"""Streaming stores for large results: a loop collects blocks, which bypass the caches when stored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .plan import View

# The least bytes of a kernel's results, as in the runtime's kernels, and elements of a loop, for streaming.
_MIN_BYTES, _MIN_COUNT = 16 << 20, 512


@dataclass(frozen=True)
class Store:
    """A store of an element: the number and type of the array, the position's placeholder, and the value."""

    array: int
    stored: str
    position: str
    value: str

    @property
    def statement(self) -> str:
        """C++ statement that stores the element directly, through the caches."""
        return f"x{self.array}[{self.position}] = {self.value};"

    @property
    def block_statement(self) -> str:
        """C++ statement that puts the element into the block at ``at``; the block is stored later."""
        return f"b{self.array}[0].data[at] = {self.value};"


class Blocks:
    """The streaming stores of a loop; ``statements`` are those of all stores, in order."""

    def __init__(self, stores: Sequence[Store], chosen: Sequence[Store] = ()) -> None:
        self.chosen = chosen
        self.statements = [s.block_statement if s in chosen else s.statement for s in stores]

    def __bool__(self) -> bool:
        return bool(self.chosen)

    @property
    def declarations(self) -> list[str]:
        """C++ declarations: one block of local memory for each streaming store."""
        return [f"  static Local<Block<{s.stored}>, 1> b{s.array};" for s in self.chosen]

    @property
    def final_statements(self) -> list[str]:
        """C++ statements after the last block, without which later work could miss the stores."""
        return ["  streaming_fence();"] if self else []

    def loop(self, index: str, first: str, end: str, each: str) -> list[str]:
        """Return the loop from ``first`` to ``end``; every position must be that of element ``e``."""
        send = [
            f"streaming_store(x{s.array} + ({s.position}), b{s.array}[0]);" for s in self.chosen
        ]
        rest = [
            f"x{s.array}[({s.position}) + i + lane()] = b{s.array}[0].data[i + lane()];"
            for s in self.chosen
        ]
        return [
            f"  {{ {index} e = {first};",
            f"  for (; e + kBlock <= {end}; e += kBlock) {{",
            f"    {each} (i32 i = 0; i < kBlock; i += XPU_SUB_GROUP)"
            " element(e + i + lane(), i + lane());",
            *(f"    {line}" for line in send),
            "  }",
            f"  for (i32 i = 0; e + i < {end}; i += XPU_SUB_GROUP) if (e + i + lane() < {end}) {{",
            "    element(e + i + lane(), i + lane());",
            *(f"    {line}" for line in rest),
            "  } }",
        ]


def blocks_of(
    stores: Sequence[Store], views: Sequence[View], count: int, fits: Callable[[str], bool]
) -> Blocks:
    """Choose the streaming stores of a loop of ``count`` elements.

    ``fits`` returns True if the elements at a position are contiguous along the loop.
    """
    if sum(view.type.bytes for view in views) < _MIN_BYTES or count < _MIN_COUNT:
        return Blocks(stores)
    arrays = [store.array for store in stores]
    return Blocks(stores, [s for s in stores if fits(s.position) and arrays.count(s.array) == 1])
