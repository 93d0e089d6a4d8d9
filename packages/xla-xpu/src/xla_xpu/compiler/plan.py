"""Plans: buffers, and steps that read and write views of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from math import prod
from typing import Any

from .types import Element, Type, row_major


@dataclass(eq=False)
class Buffer:
    """Memory of the program. ``kind``: "parameter", "output", "temporary" or "constant"."""

    kind: str
    bytes: int
    place: int = 0
    same_as: Buffer | None = None  # set when the two were merged

    @property
    def root(self) -> Buffer:
        """Buffer into which this one was merged, perhaps through others; this one if it was not."""
        root = self
        while root.same_as:
            root = root.same_as
        # Shortens the path: a long program may merge thousands of buffers into one.
        buffer = self
        while buffer.same_as and buffer.same_as is not root:
            buffer.same_as, buffer = root, buffer.same_as
        return root


@dataclass(frozen=True)
class View:
    """An array in a buffer; offset and strides count elements."""

    buffer: Buffer
    element: Element
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int = 0

    @classmethod
    def whole(cls, buffer: Buffer, type: Type) -> View:
        """Return the contiguous view of the type that begins at the buffer's first byte."""
        return cls(buffer, type.element, type.shape, type.strides)

    @property
    def type(self) -> Type:
        """Element type and shape. The type's strides are row-major, whatever those of the view are."""
        return Type(self.element, self.shape)

    @property
    def contiguous(self) -> bool:
        """Row-major without gaps."""
        expected = row_major(self.shape)
        pairs = zip(self.shape, self.strides, expected, strict=True)
        return all(size == 1 or stride == other for size, stride, other in pairs)

    def with_layout(
        self, shape: tuple[int, ...], strides: tuple[int, ...], offset: int = 0
    ) -> View:
        """Return a view whose ``offset`` counts from this view's; the bounds are not checked."""
        return View(self.buffer, self.element, shape, strides, self.offset + offset)

    def reshaped(self, shape: tuple[int, ...]) -> View | None:
        """Return the same elements in another shape; None if no strides describe them."""
        strides = reshaped_strides(self.shape, self.strides, shape)
        return None if strides is None else self.with_layout(shape, strides)

    def slice(self, start: tuple[int, ...], shape: tuple[int, ...]) -> View:
        """Return the part of this shape that begins at ``start``."""
        offset = sum(s * t for s, t in zip(start, self.strides, strict=True))
        return self.with_layout(shape, self.strides, offset)


def reshaped_strides(
    shape: tuple[int, ...], strides: tuple[int, ...], target: tuple[int, ...]
) -> tuple[int, ...] | None:
    """Return strides that give the shape ``target`` over the same memory, or None."""
    if 0 in shape:
        return row_major(target)
    old = [(size, stride) for size, stride in zip(shape, strides, strict=True) if size != 1]
    result: list[int] = []
    at = 0
    sizes = list(target)
    while sizes:
        if sizes[0] == 1:
            result.append(0)
            sizes.pop(0)
            continue
        # Dimensions of the old shape that together make some of the new one's.
        if at >= len(old):
            return None
        count, stride = old[at]
        at += 1
        group = [sizes.pop(0)]
        total = group[0]
        while total != count:
            if total < count:
                if not sizes:
                    return None
                group.append(sizes.pop(0))
                total *= group[-1]
            else:
                if at >= len(old) or old[at - 1][1] != old[at][0] * old[at][1]:
                    return None
                count *= old[at][0]
                stride = old[at][1]
                at += 1
        steps = [stride * step for step in row_major(tuple(group))]
        result.extend(steps)
    return tuple(result) if at == len(old) else None


# The maximum number of dimensions of the runtime's arrays.
MAX_DIMENSIONS = 12


def groups_of(views: list[View], separate: Collection[int] = ()) -> list[list[int]]:
    """Group the dimensions of views of one shape: those that all views can join. Skip dimensions of size 1.

    A group never has both dimensions in ``separate`` and others.
    """
    groups: list[list[int]] = []
    shape = views[0].shape
    for dim in (d for d, size in enumerate(shape) if size != 1):
        last = groups[-1][-1] if groups else -1
        one = last >= 0 and (last in separate) == (dim in separate)
        if one and all(v.strides[last] == v.strides[dim] * shape[dim] for v in views):
            groups[-1].append(dim)
        else:
            groups.append([dim])
    return groups


def joined(views: list[View], groups: list[list[int]]) -> list[View]:
    """Return the views with each group joined to one dimension."""
    sizes = tuple(prod(views[0].shape[dim] for dim in group) for group in groups)
    return [v.with_layout(sizes, tuple(v.strides[group[-1]] for group in groups)) for v in views]


@dataclass(eq=False)
class Step:
    """An operation to enqueue. ``fields`` holds views, which become operands when the plan is serialized.

    ``in_place``: buffers that it may write although it reads them, because it reads each element before.
    """

    name: str
    fields: dict[str, Any]
    reads: list[Buffer] = field(default_factory=list)
    writes: list[Buffer] = field(default_factory=list)
    in_place: list[Buffer] = field(default_factory=list)
    bodies: list[list[Step]] = field(default_factory=list)

    def all_steps(self) -> Iterator[Step]:
        """Yield this step and those of its bodies, in the order in which they run."""
        yield self
        for body in self.bodies:
            for step in body:
                yield from step.all_steps()


def make_step(name: str, reads: dict[str, Any], writes: dict[str, Any], /, **fields: Any) -> Step:
    """Create a step whose views are fields of the same name; a field may be a list of views."""

    def buffers(named: dict[str, Any]) -> list[Buffer]:
        flat = (
            v for value in named.values() for v in (value if isinstance(value, list) else [value])
        )
        return [view.buffer for view in flat]

    return Step(name, {**reads, **writes, **fields}, buffers(reads), buffers(writes))
