"""A case of Triton's language: a kernel as text, what it is called with, and how close its results must be."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
import triton

# Major and minor version. Triton 3.9 has no block pointers, and warns when tl.cat gets can_reorder=True.
TRITON = tuple(int(part) for part in triton.__version__.split(".")[:2])
TYPES = {
    "b1": torch.bool,
    "i8": torch.int8,
    "i16": torch.int16,
    "i32": torch.int32,
    "i64": torch.int64,
    "u8": torch.uint8,
    "u16": torch.uint16,
    "u32": torch.uint32,
    "u64": torch.uint64,
    "f8e4m3": torch.float8_e4m3fn,
    "f8e5m2": torch.float8_e5m2,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "f32": torch.float32,
    "f64": torch.float64,
}
# Triton's names of the types.
NAMES = {
    "b1": "tl.int1",
    "f8e4m3": "tl.float8e4nv",
    "f8e5m2": "tl.float8e5",
    "f16": "tl.float16",
    "bf16": "tl.bfloat16",
    "f32": "tl.float32",
    "f64": "tl.float64",
} | {
    f"{sign}{bits}": f"tl.{'u' * (sign == 'u')}int{bits}"
    for sign in "iu"
    for bits in (8, 16, 32, 64)
}
SIGNED = ("i8", "i16", "i32", "i64")
UNSIGNED = ("u8", "u16", "u32", "u64")
INTEGERS = SIGNED + UNSIGNED
FLOATS = ("f16", "bf16", "f32", "f64")
NUMBERS = INTEGERS + FLOATS
_SPECIAL = (0.0, -0.0, float("inf"), float("-inf"), float("nan"), 1.0, -1.0, 0.5)


@dataclass(frozen=True)
class Numbers:
    """An array of numbers that a seed determines: ``kind`` is what they are like, or a range of integers."""

    dtype: str
    shape: tuple[int, ...] = (128,)
    kind: str | tuple[int, int] = "any"

    def make(self, seed: int) -> torch.Tensor:
        """Return the array, on the host."""
        generator = torch.Generator().manual_seed(seed)
        type = TYPES[self.dtype]
        if isinstance(self.kind, tuple) or not type.is_floating_point:
            return self._integers(generator).to(type)
        numbers = torch.randn(self.shape, generator=generator, dtype=torch.float64) * 2
        if self.kind == "positive":
            numbers = numbers.abs() + 0.25
        elif self.kind == "nonzero":
            numbers = numbers.sign() * (numbers.abs() + 0.25)
        elif self.kind == "special":
            flat = numbers.view(-1)
            places = torch.randperm(flat.numel(), generator=generator)[: flat.numel() // 2]
            special = torch.tensor(_SPECIAL, dtype=torch.float64)
            flat[places] = special[torch.arange(len(places)) % len(special)]
        return numbers.to(type)

    def _integers(self, generator: torch.Generator) -> torch.Tensor:
        if isinstance(self.kind, tuple):
            low, high = self.kind
        else:
            low, high = (0, 2) if self.dtype == "b1" else (-100, 100)
            low = 0 if self.dtype.startswith("u") else low
        numbers = torch.randint(low, high, self.shape, generator=generator)
        if self.kind == "nonzero":
            numbers[numbers == 0] = 7
        return numbers


@dataclass(frozen=True)
class Result:
    """An array that the kernel writes, zeros before."""

    dtype: str
    shape: tuple[int, ...] = (128,)

    def make(self, seed: int) -> torch.Tensor:
        """Return the array, on the host."""
        return torch.zeros(self.shape, dtype=torch.float32).to(TYPES[self.dtype])


@dataclass(frozen=True)
class Case:
    """A kernel, the text of ``def kernel(...)``, with its arguments in order, constants and grid.

    ``helpers`` stand before it. ``tolerance`` is that of the type of a result, unless it is given.
    """

    name: str
    source: str
    arguments: tuple[Any, ...]
    constants: dict[str, Any] = field(default_factory=dict)
    grid: tuple[int, ...] = (1,)
    helpers: str = ""
    tolerance: float | None = None
    dtype: str = ""
    # What the last array is to be, of the others, where the interpreter is wrong.
    expected: Callable[..., torch.Tensor] | None = None

    def module(self, interpreted: bool = False) -> str:
        """Return the text of a module that has the kernel. The interpreter is given f32 for bf16: it has none."""
        head = "import triton\nimport triton.language as tl\n\n"
        text = f"{head}{self.helpers}\n@triton.jit\n{self.source.strip()}\n"
        return text.replace("tl.bfloat16", "tl.float32") if interpreted else text

    def make_arguments(self) -> list[Any]:
        """Return the arguments, with arrays on the host."""
        seed = zlib.crc32(self.name.encode())
        return [
            operand.make(seed + number) if isinstance(operand, (Numbers, Result)) else operand
            for number, operand in enumerate(self.arguments)
        ]

    def run(self, kernel: Any, device: str) -> list[torch.Tensor]:
        """Call the kernel with arrays on a device; return all arrays, on the host."""
        arguments = [
            value.to(device) if isinstance(value, torch.Tensor) else value
            for value in self.make_arguments()
        ]
        kernel[self.grid](*arguments, **self.constants)
        return [value.cpu() for value in arguments if isinstance(value, torch.Tensor)]

    def interpret(self, kernel: Any) -> list[torch.Tensor]:
        """Call the kernel in the interpreter; return all arrays, of f32 where the case has bf16."""
        arguments = [
            value.float()
            if isinstance(value, torch.Tensor) and value.dtype == torch.bfloat16
            else value
            for value in self.make_arguments()
        ]
        kernel[self.grid](*arguments, **self.constants)
        return [value for value in arguments if isinstance(value, torch.Tensor)]

    def compute(self) -> list[torch.Tensor]:
        """Return all arrays, the last one as it is expected."""
        assert self.expected is not None
        arrays = [value for value in self.make_arguments() if isinstance(value, torch.Tensor)]
        return [*arrays[:-1], self.expected(*arrays[:-1])]


def elementwise(
    name: str,
    expression: str,
    inputs: str | tuple[Numbers, ...],
    result: str = "",
    tolerance: float | None = None,
    size: int = 128,
    expected: Callable[..., torch.Tensor] | None = None,
) -> Case:
    """Return a case of an expression over a, b, c; ``inputs`` may be one type of as many as it reads."""
    if isinstance(inputs, str):
        count = 3 if "c" in _words(expression) else 2 if "b" in _words(expression) else 1
        inputs = tuple(Numbers(inputs, (size,)) for _ in range(count))
    names = "abc"[: len(inputs)]
    loads = "".join(f"    {n} = tl.load({n}_ptr + i)\n" for n in names)
    source = (
        f"def kernel({', '.join(f'{n}_ptr' for n in names)}, out_ptr, B: tl.constexpr):\n"
        f"    i = tl.arange(0, B)\n{loads}    tl.store(out_ptr + i, {expression})\n"
    )
    out = result or inputs[0].dtype
    arguments = (*inputs, Result(out, (size,)))
    dtype = "f64" if "f64" in (out, *(x.dtype for x in inputs)) else inputs[0].dtype
    constants = {"B": size}
    return Case(name, source, arguments, constants, (1,), "", tolerance, dtype, expected)


def _words(text: str) -> set[str]:
    return set("".join(ch if ch.isalnum() or ch == "_" else " " for ch in text).split())


def unique(cases: Iterator[Case]) -> dict[str, Case]:
    """Return the cases by name; raise ValueError for two of one name."""
    found: dict[str, Case] = {}
    for case in cases:
        if case.name in found:
            raise ValueError(f"two cases are called {case.name}")
        found[case.name] = case
    return found
