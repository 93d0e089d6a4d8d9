"""Kernels: their code with what a launch needs, and the source of a module of kernels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .division import Division
from .render import HOLE

# The maximum number of a kernel's arguments, as in the runtime's Args.
MAX_ARGUMENTS = 40


@dataclass(frozen=True)
class Code:
    """A kernel's code without its name.

    ``offsets`` stand between ``parts``: numbers, or names of parameters.
    """

    parameters: tuple[str, ...]
    parts: tuple[str, ...]
    offsets: tuple[int | str, ...]
    headers: tuple[str, ...] = ()
    sized_for_device: bool = False

    def text(self, name: str) -> str:
        """Return the C++ source of a kernel called `name`."""
        pieces = [f"XPU_KERNEL(1) {name}({', '.join(self.parameters)}) {{\n", self.parts[0]]
        for offset, part in zip(self.offsets, self.parts[1:], strict=True):
            pieces.append(str(offset))
            pieces.append(part)
        return "".join((*pieces, "\n}\n"))


@dataclass(frozen=True)
class Kernel:
    """A kernel's code and its launch: ``groups`` of ``group`` work-items.

    Its arguments are the program's arrays, then its symbols and ``sizes`` as i64. Of a program with symbols,
    ``groups`` and ``sizes`` are those of the hints; ``division.launch`` gives them for other values.
    ``in_place`` are the numbers of arrays that may be the memory of a result, because each element is read
    only where it is written.
    """

    code: Code
    groups: int
    group: int
    sizes: tuple[int, ...]
    division: Division
    in_place: tuple[int, ...] = ()


def make_code(
    parameters: Iterable[str],
    lines: Sequence[str],
    headers: Sequence[str] = (),
    sized_for_device: bool = False,
) -> Code:
    """Return the code of lines whose offsets are between holes."""
    parts = "\n".join(lines).split(HOLE)
    return Code(
        tuple(parameters),
        tuple(parts[::2]),
        tuple(map(int, parts[1::2])),
        tuple(headers),
        sized_for_device,
    )


def module_source(named: Sequence[tuple[str, Code]]) -> str:
    """Return the source of a module of kernels, each with its name."""
    needed = {"group": None}
    for _, code in named:
        needed.update(dict.fromkeys(code.headers))
    text = "#define XPU_SIZED_FOR_DEVICE\n" if any(c.sized_for_device for _, c in named) else ""
    text += "".join(f"#include <xpu/{header}.h>\n" for header in needed)
    return f"{text}using namespace xpu;\n{''.join(code.text(name) for name, code in named)}"
