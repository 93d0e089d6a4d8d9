"""Loops over the elements of a window."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..affine import Affine, Coordinates
from ..emit import Emitter
from ..graph import Graph, Value
from ..kernel_writer import Output
from ..lower import Lowerer
from ..regions import region_text
from ..space import counters


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
    emitter.irregular = True
    inside: list[Affine] = []
    within: list[Affine] = []
    opened = 0
    for _dim, (window, size, place) in enumerate(zip(windows, shape, at, strict=True)):
        start = place * window.stride + -window.low
        if window.size > 1:
            counter = emitter.new_name("w")
            emitter.lines.append(
                f"for (i32 {counter} = 0; {counter} < {window.size}; ++{counter}) {{"
            )
            opened += 1
            start = start + Affine.of(counter) * window.dilation
        within.append(Affine.of(counter) if window.size > 1 else Affine())
        if not _guarded(window, size):
            inside.append(start)
            continue
        name = emitter.new_name("p")
        emitter.lines.append(f"{{ i64 {name} = {emitter.position(start)};")
        condition = f"(u64){name} < {(size - 1) * window.base + 1 if size else 0}ul"
        if window.base > 1:
            condition += f" && {name} % {window.base} == 0"
        emitter.lines.append(f"if ({condition}) {{")
        opened += 2
        if window.base > 1:
            emitter.lines.append(f"i64 {name}s = {name} / {window.base};")
            name += "s"
        inside.append(Affine.of(name))
    with emitter.scope():
        visit(tuple(inside), tuple(within))
    emitter.lines.append("}" * opened)


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

    def write(emitter: Emitter) -> list[str]:
        firsts = [emitter.value(start, ()) for start in starts]
        read = {value: emitter.value(value, ()) for value in outside}
        totals = [
            emitter.variable(value.type.element, first)
            for value, first in zip(inputs, firsts, strict=True)
        ]

        def visit(inside: Coordinates, within: Coordinates) -> None:
            taken = [emitter.value(value, inside) for value in inputs]
            lines, results = region_text(region, [*totals, *taken], read.__getitem__)
            emitter.lines += lines
            names = [
                emitter.variable(value.type.element, result)
                for value, result in zip(inputs, results, strict=True)
            ]
            emitter.lines += [f"{t} = {n};" for t, n in zip(totals, names, strict=True)]

        walk(emitter, windows, inputs[0].shape, counters(shape), visit)
        return totals

    emitter, names = lowerer.emit(write, inputs)
    lowerer.add_kernel(
        emitter,
        [
            Output(name, lowerer.views.get(value) or lowerer.result(value))
            for name, value in zip(names, outputs, strict=True)
        ],
    )
