"""The source of one kernel: a struct of operands, sizes and functions, and a call of the device code."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import torch
from torch._inductor.virtualized import V
from xpu_runtime.codegen.program import Array
from xpu_runtime.codegen.render import Renderer
from xpu_runtime.codegen.statements import Operand

from ..reader.values import element_of
from .functions import FunctionReader, declaration


class Problem:
    """What a kernel computes. ``grid`` are the groups along batches, heads and tiles, of ``items`` items."""

    def __init__(self, entry: str, reader: FunctionReader) -> None:
        self.entry, self.reader, self.device = entry, reader, reader.device
        self.types_of: dict[str, str] = {}
        self.constants: dict[str, int] = {}
        self.tensors: dict[str, Array] = {}
        # Further members: a declaration, and the text of the value.
        self.members: list[tuple[str, str]] = []
        self.grid: tuple[Any, Any, Any] = (1, 1, 1)
        self.items = 1

    def add_tensor(
        self, name: str, tensor: Any, writable: bool = False, strides: bool = True
    ) -> None:
        """Add a pointer, and the strides of all dimensions but the last."""
        self.tensors[name] = Array(element_of(tensor.get_dtype()), None, writable)
        self.members.append((declaration(name, self.tensors[name]), name))
        if strides:
            self.add_array(f"{name}_strides", strides_of(tensor)[:-1])

    def add_blocks(self, name: str, count: Any, index: Any) -> None:
        """Add the lists of a mask's blocks."""
        for part, tensor in (("count", count), ("index", index)):
            self.tensors[f"{name}_{part}"] = Array(element_of(tensor.get_dtype()), None)
        values = [f"{name}_count", f"{name}_index"]
        values += [self._list(strides_of(tensor)) for tensor in (count, index)]
        self.members.append((f"FlexBlocks {name}", f"{{{', '.join(values)}}}"))

    def add_size(self, name: str, size: Any) -> None:
        """Add a number that the launch knows."""
        self.members.append((f"i64 {name}", self._size(size)))

    def add_array(self, name: str, sizes: Sequence[Any]) -> None:
        """Add numbers that the launch knows."""
        self.members.append((f"i64 {name}[{len(sizes)}]", self._list(sizes)))

    def add_value(self, declaration: str, value: Operand) -> None:
        """Add a value."""
        self.members.append((declaration, Renderer().operand(value)))

    def _size(self, size: Any) -> str:
        text = self.reader.symbols.size(size)
        return str(text) if isinstance(text, int) else text.argument

    def _list(self, sizes: Sequence[Any]) -> str:
        return f"{{{', '.join(map(self._size, sizes))}}}"

    @property
    def types(self) -> str:
        """The types of the kernel's arguments, as a Launcher takes them."""
        pointers = len(self.tensors) + len(self.reader.arrays)
        return "p" * pointers + self.reader.faults.types + "i8" * len(self.reader.symbols.of)

    def source(self) -> tuple[str, str]:
        """Return the kernel's name, which its text gives, and its source without what all kernels share."""
        reader, index = self.reader, self.reader.index_element.math
        arrays = {f"x{n}": array for n, array in enumerate(reader.program_arrays())}
        symbols = reader.symbols.of.values()
        used = [*arrays, *(text.split()[-1] for text in reader.faults.parameters)]
        values = [*(value for _, value in self.members), *used]
        values += [f"({index}){symbol.argument}" for symbol in symbols]
        lines = [
            f"#include <xpu/{header}.h>" for header in (*reader.headers, *reader.faults.headers)
        ]
        lines += ["using namespace xpu;", "struct Flex {"]
        lines += [f"  using {name} = {type};" for name, type in self.types_of.items()]
        lines += [f"  static constexpr i64 {name} = {n};" for name, n in self.constants.items()]
        lines += [f"  {text};" for text, _ in self.members]
        lines += [f"  {line}" for line in reader.members()]
        lines.append("};")
        parameters = [declaration(*item) for item in (self.tensors | arrays).items()]
        parameters += reader.faults.parameters
        parameters += [f"i64 {symbol.argument}" for symbol in symbols]
        body = [f"({', '.join(parameters)}) {{", f"  const Flex flex = {{{', '.join(values)}}};"]
        body += [f"  {self.entry}(flex);", "}"]
        digest = hashlib.sha256("\n".join((*lines, *body)).encode()).hexdigest()[:8]
        name = f"sycl_{self.entry}_{digest}"
        return name, "\n".join((*lines, f"XPU_KERNEL(3) {name}{body[0]}", *body[1:], ""))


def strides_of(tensor: Any) -> list[Any]:
    """Return a tensor's strides, 0 where it has one element and is broadcast."""
    equal = V.graph.sizevars.statically_known_equals
    sizes, strides = tensor.get_size(), tensor.get_stride()
    return [0 if equal(size, 1) else stride for size, stride in zip(sizes, strides, strict=True)]


def stored(dtype: torch.dtype) -> str:
    """Return the C++ type of elements in memory."""
    return element_of(dtype).stored
