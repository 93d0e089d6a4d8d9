"""Streaming stores for large results: a loop collects blocks, which bypass the caches when stored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .access import store_template
from .affine import Affine
from .program import Array
from .statements import Do, Statement, Store, Term

# The least elements of a loop for streaming.
_MIN_COUNT = 512


@dataclass(frozen=True)
class Blocks:
    """The statements of a loop's element, and those of its stores that go to blocks of local memory."""

    statements: Sequence[Statement]
    chosen: Sequence[Store] = ()
    arrays: Sequence[Array] = ()

    @property
    def declarations(self) -> list[str]:
        """C++ declarations: one block of local memory for each streaming store."""
        return [
            f"  static Local<Block<{self.arrays[s.array].element.stored}>, 1> b{s.array};"
            for s in self.chosen
        ]

    @property
    def headers(self) -> tuple[str, ...]:
        """The header that the stores need."""
        return ("streaming_store",) if self.chosen else ()

    @property
    def final_statements(self) -> list[str]:
        """C++ statements after the last block, without which later work could miss the stores."""
        return ["  streaming_fence();"] if self.chosen else []

    def loop(
        self,
        index: str,
        first: str,
        end: str,
        each: str,
        position: Callable[[Affine], str],
        function: str = "element",
    ) -> list[str]:
        """Return the loop of a function's calls from ``first`` to ``end``.

        ``position`` gives the text of element ``e``'s.
        """
        at = [(s.array, position(s.position)) for s in self.chosen]
        return [
            f"  {{ {index} e = {first};",
            f"  for (; e + kBlock <= {end}; e += kBlock) {{",
            f"    {each} (i32 i = 0; i < kBlock; i += XPU_SUB_GROUP)"
            f" {function}(e + i + lane(), i + lane());",
            *(f"    streaming_store(x{array} + ({place}), b{array}[0]);" for array, place in at),
            "  }",
            f"  for (i32 i = 0; e + i < {end}; i += XPU_SUB_GROUP) if (e + i + lane() < {end}) {{",
            f"    {function}(e + i + lane(), i + lane());",
            *(
                f"    x{array}[({place}) + i + lane()] = b{array}[0].data[i + lane()];"
                for array, place in at
            ),
            "  } }",
        ]


def collect_blocks(
    arrays: Sequence[Array],
    statements: Sequence[Statement],
    total: int,
    count: int,
    min_bytes: int,
    fits: Callable[[Affine], bool],
) -> Blocks:
    """Choose the streaming stores of a loop of ``count`` elements, of ``total`` in the kernel.

    There are some if the kernel's results have at least ``min_bytes``. ``fits`` returns True if the elements
    at a position are contiguous along the loop.
    """
    stores = [s for s in statements if type(s) is Store and not s.combine]
    if sum(arrays[s.array].element.size * total for s in stores) < min_bytes or count < _MIN_COUNT:
        return Blocks(statements)
    numbers = [s.array for s in stores]
    chosen = [s for s in stores if fits(s.position) and numbers.count(s.array) == 1]

    def collected(statement: Statement) -> Statement:
        if statement not in chosen:
            return statement
        assert type(statement) is Store
        value = Term(store_template(arrays[statement.array].element), (statement.value,))
        return Do(Term(f"b{statement.array}[0].data[at] = {{0}};", (value,)), ())

    return Blocks([collected(s) for s in statements] if chosen else statements, chosen, arrays)
