"""Arrays of registers, used again when their values are no longer needed."""

from __future__ import annotations

from dataclasses import dataclass

from ..layouts import LANE, Layout
from .local_memory import ALIGNMENT

# Compilers unroll loops over so many elements, and keep the elements in registers.
MAX_UNROLLED = 4
# Elements of the vectors that matrix units add products to, and their types.
EIGHT, _EIGHT_TYPES = 8, ("float", "i32")


@dataclass(frozen=True)
class Slots:
    """An array: its name in C++ and where an element of the current work-item is.

    Compilers for CPUs lay out a private array by work-items, so that a vector's elements are far apart.
    There an
    array is in local memory, in which neighboring lanes are neighbors (``stride`` is the number of lanes),
    or the
    lanes share the elements (``stride`` is 1). A private array has stride 0; it may be of vectors of eight.
    """

    name: str
    stride: int
    is_of_eights: bool = False

    def element(self, index: str) -> str:
        """Return the text of an element by its register's number."""
        if self.stride > 1:
            return f"{self.name}[{index} * {self.stride} + {LANE}]"
        if self.is_of_eights:
            return f"{self.name}[{index} >> 3][{index} & 7]"
        return f"{self.name}[{index}]"

    def eight(self, number: str) -> str:
        """Return the text of a vector of eight."""
        assert self.is_of_eights
        return f"{self.name}[{number}]"


@dataclass
class _Array:
    slots: Slots
    type: str
    size: int
    number: int
    defined: int


class Storage:
    """Gives out arrays, which are used again when they are no longer read.

    A first run records when each is read last; the next one takes this record. Both runs must ask for the
    same arrays in the same order. ``lanes`` is 0 where arrays are private, and
    ``local_bytes`` what they may take of local memory. With ``eights`` private arrays that are large enough
    are of vectors.
    """

    def __init__(
        self,
        lanes: int,
        local_bytes: int,
        last_reads: dict[int, int] | None = None,
        eights: bool = False,
    ) -> None:
        self.lanes, self.local_bytes, self.last_reads = lanes, local_bytes, last_reads
        self.eights = eights
        self.reads: dict[int, int] = {}  # by the number of an array, the time of the last read
        self.used = 0  # bytes of local memory
        self._declarations: list[tuple[str, str, int]] = []  # type, name and size, or -1 - offset
        self._by_name: dict[str, _Array] = {}
        self._live: list[_Array] = []
        self._free: dict[tuple[str, int, int], list[Slots]] = {}
        self._loops: list[int] = []  # when the loops around began
        self._time = 0
        self._count = 0

    def advance(self) -> None:
        """Go to the next operation."""
        self._time += 1

    def array(self, type: str, bytes: int, layout: Layout) -> Slots:
        """Return an array for a tile of elements of a type, of ``bytes`` each."""
        stride = self._stride(layout, bytes)
        free = self._free.get((type, layout.size, stride))
        slots = free.pop() if free else self._new(type, bytes, layout.size, stride)
        array = _Array(slots, type, layout.size, self._count, self._time)
        self._count += 1
        self.reads[array.number] = self._time
        self._by_name[slots.name] = array
        self._live.append(array)
        return slots

    def _stride(self, layout: Layout, bytes: int) -> int:
        if not self.lanes or layout.size <= MAX_UNROLLED:
            return 0
        stride = 1 if all(place is None for place in layout.lanes) else self.lanes
        return stride if self.used + layout.size * stride * bytes <= self.local_bytes else 0

    def _new(self, type: str, bytes: int, size: int, stride: int) -> Slots:
        name = f"a{len(self._declarations)}"
        if stride:
            self._declarations.append((type, name, -1 - self.used))
            self.used += -(-size * stride * bytes // ALIGNMENT) * ALIGNMENT
            return Slots(name, stride)
        is_of_eights = self.eights and size >= EIGHT and type in _EIGHT_TYPES
        if is_of_eights:
            type, size = f"triton::Eight<{type}>", size // EIGHT
        self._declarations.append((type, name, size))
        return Slots(name, stride, is_of_eights)

    def declarations(self, offset: int) -> list[str]:
        """Return the declarations of all arrays; those in local memory begin at an offset of it."""
        lines = []
        for type, name, size in self._declarations:
            if size >= 0:
                lines.append(f"{type} {name}[{size}];")
            else:
                at = offset - 1 - size
                lines.append(f"{type}* {name} = ({type}*)((u8*)local_memory.data + {at});")
        return lines

    def read(self, slots: Slots) -> None:
        """Note that an array is read."""
        array = self._by_name[slots.name]
        self.reads[array.number] = self._time

    def begin_loop(self) -> None:
        """Note that a loop begins: what is read in it is needed until its end."""
        self._loops.append(self._time)

    def end_loop(self) -> None:
        """Note that a loop ends."""
        begin = self._loops.pop()
        for array in self._live:
            if array.defined <= begin < self.reads[array.number]:
                self.reads[array.number] = self._time

    def closed(self) -> None:
        """Note that all that was written so far is complete: arrays that are no longer read are free."""
        if self.last_reads is None:
            return
        live = []
        for array in self._live:
            if self.last_reads[array.number] < self._time:
                key = array.type, array.size, array.slots.stride
                self._free.setdefault(key, []).append(array.slots)
            else:
                live.append(array)
        self._live = live
