"""Loops over the elements of a window."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from xpu_runtime.codegen.affine import Affine, Coordinates, counters
from xpu_runtime.codegen.statements import Operand, Term

from ..emit import Emitter
from ..graph import Graph, Value
from ..lower import Lowerer


@dataclass(frozen=True)
class Window:
    """The window of a dimension; ``base`` and ``dilation`` are the dilations of source and window."""

    size: int = 1
    stride: int = 1
    base: int = 1
    dilation: int = 1
    low: int = 0
    high: int = 0

    @property
    def trivial(self) -> bool:
        """True if every window is one element of the source: no stride, dilation or padding."""
        return self == Window()

    @property
    def extent(self) -> int:
        """The distance from its first to its last element, plus 1."""
        return (self.size - 1) * self.dilation + 1

    def result(self, size: int) -> int:
        """Return the number of windows in a dimension of this size."""
        room = self.low + self.high + (max(0, (size - 1) * self.base + 1) if size else 0)
        return max(0, (room - self.extent) // self.stride + 1)


def windows_of(attributes: dict, rank: int) -> list[Window]:
    """Return the windows that an operation's attributes describe."""

    def numbers(name: str) -> Sequence[int]:
        return attributes.get(name) or [1] * rank

    padding = attributes.get("padding") or [[0, 0]] * rank
    return [
        Window(size, stride, base, dilation, low, high)
        for size, stride, base, dilation, (low, high) in zip(
            attributes["window_dimensions"],
            numbers("window_strides"),
            numbers("base_dilations"),
            numbers("window_dilations"),
            padding,
            strict=True,
        )
    ]


def walk(
    emitter: Emitter,
    windows: list[Window],
    shape: tuple[int, ...],
    at: Coordinates,
    visit: Callable[[Coordinates, Coordinates], None],
) -> None:
    """Emit loops over the window of the result's element at ``at``, in row-major order.

    ``visit`` writes what is done with an element, given its place in the source and in the window; it runs
    for those that are no padding.
    """
    inside: list[Affine] = []
    within: list[Affine] = []
    with ExitStack() as stack:
        for window, size, place in zip(windows, shape, at, strict=True):
            start, coordinate = place * window.stride + -window.low, Affine()
            if window.size > 1:
                coordinate = stack.enter_context(emitter.loop(str(window.size), letter="w"))
                start = start + coordinate * window.dilation
            within.append(coordinate)
            if not _guarded(window, size):
                inside.append(start)
                continue
            name = emitter.let("i64", "{0}", start)
            condition = f"(u64){{0}} < {(size - 1) * window.base + 1 if size else 0}ul"
            if window.base > 1:
                condition += f" && {{0}} % {window.base} == 0"
            stack.enter_context(emitter.where(Term(condition, (name,))))
            if window.base > 1:
                name = emitter.let("i64", f"{{0}} / {window.base}", name)
            inside.append(Affine.of(name))
        visit(tuple(inside), tuple(within))


def _guarded(window: Window, size: int) -> bool:
    last = (window.result(size) - 1) * window.stride - window.low + window.extent - 1
    return window.low > 0 or window.base > 1 or last >= size


def add_loops(
    lowerer: Lowerer,
    inputs: list[Value],
    starts: list[Value],
    region: Graph,
    windows: list[Window],
    outputs: list[Value],
) -> None:
    """Add a kernel that combines each window's elements in order; outputs may have memory."""
    shape = outputs[0].shape
    outside = list(dict.fromkeys(region.captured()))

    def write(emitter: Emitter) -> list[Operand]:
        firsts = [emitter.value(start, ()) for start in starts]
        read = {value: emitter.value(value, ()) for value in outside}
        totals = [
            emitter.variable(value.type.element, first)
            for value, first in zip(inputs, firsts, strict=True)
        ]

        def visit(inside: Coordinates, within: Coordinates) -> None:
            taken = [emitter.value(value, inside) for value in inputs]
            results = emitter.region(region, [*totals, *taken], read.__getitem__)
            names = [
                emitter.variable(value.type.element, result)
                for value, result in zip(inputs, results, strict=True)
            ]
            for total, name in zip(totals, names, strict=True):
                emitter.set(total, name)

        walk(emitter, windows, inputs[0].shape, counters(shape), visit)
        return list(totals)

    views = [lowerer.views.get(value) or lowerer.result(value) for value in outputs]
    lowerer.add_kernel(write, views, [*inputs, *starts, *outside])
