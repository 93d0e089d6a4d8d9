"""Cases of loop programs: a program, its arguments and what numpy computes, and how to run it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from xpu_runtime.codegen.affine import Affine, counters, dot, row_major
from xpu_runtime.codegen.elements import find_element
from xpu_runtime.codegen.kernel import Kernel, module_source
from xpu_runtime.codegen.program import Array, Fold, LoopProgram, Section
from xpu_runtime.codegen.statements import (
    Set,
    Term,
)
from xpu_runtime.codegen.target import Target
from xpu_runtime.codegen.write import write

HEADERS = ("math", "exp", "integer", "activation", "erf", "philox", "dropout", "atomic")


def source_of(kernel: Kernel) -> str:
    return module_source([("program", kernel.code)])


@dataclass
class Inside:
    """An array between two margins, which a kernel that leaves the array writes instead of other memory."""

    whole: object
    array: np.ndarray
    margin: int

    @classmethod
    def of(cls, xr, array: np.ndarray, margin: int) -> Inside:
        beside = np.zeros(margin, np.uint8)
        data = np.concatenate([beside, np.frombuffer(array.tobytes(), np.uint8), beside])
        return cls(xr.from_numpy(data), array, margin)

    @property
    def _tensor(self):
        return self.whole.view((self.array.nbytes,), (1,), self.margin)._tensor

    def numpy(self) -> np.ndarray:
        data = self.whole.numpy()[self.margin : self.margin + self.array.nbytes]
        return data.view(self.array.dtype).reshape(self.array.shape)


def run(
    xr,
    program: LoopProgram,
    arguments: list[np.ndarray],
    target: Target | None = None,
    margin: int = 0,
    values: Mapping[str, int] | None = None,
) -> list[np.ndarray]:
    """Run a program over copies of the arguments; return what they hold afterwards.

    ``values`` are those of the symbols. Each copy has ``margin`` bytes on both sides, for kernels that
    are known to be wrong.
    """
    kernel = write(program, target or Target.of(xr.Device(0)))
    built = xr.compile(source_of(kernel)).kernel("program")
    given = [
        Inside.of(xr, argument, margin) if margin else xr.from_numpy(argument)
        for argument in arguments
    ]
    groups, sizes = kernel.division.launch(values or {})
    numbers = [*((values or {})[symbol.name] for symbol in program.symbols), *sizes]
    if groups:
        xr.launch(built, groups * kernel.group, kernel.group, [*given, *map(np.int64, numbers)])
    return [array.numpy() for array in given]


@dataclass
class Case:
    """A program, its arguments, and what they hold afterwards, or None where they do not change."""

    program: LoopProgram
    arguments: list[np.ndarray]
    expected: list[np.ndarray | None]
    tolerance: float = 1e-5


def make(shape, parallel_dims, sections, arguments, expected, caches=(), tolerance=1e-5) -> Case:
    arrays = [
        Array(find_element(numpy_name=a.dtype.name), a.nbytes, e is not None)
        for a, e in zip(arguments, expected, strict=True)
    ]
    program = LoopProgram(arrays, shape, parallel_dims, sections, caches, HEADERS)
    return Case(program, arguments, expected, tolerance)


def pointwise(shape, statements, arguments, expected, tolerance=1e-5) -> Case:
    return make(shape, len(shape), [Section(statements)], arguments, expected, tolerance=tolerance)


def at(*strides: int, offset: int = 0) -> Affine:
    """The position of the counters of loops with these strides."""
    return dot(tuple(Affine.of(dim) for dim in range(len(strides))), strides) + offset


def whole(*shape: int) -> Affine:
    return dot(counters(shape), row_major(shape))


def fold(result, type, identity, update, combine, finish="s0") -> Fold:
    """A fold of one accumulator, ``{0}``; ``{1}`` is an element or another accumulator."""
    template, value = update
    return Fold(
        (result,),
        (type,),
        (identity,),
        [Set("s0", Term(template, ("s0", value)))],
        [Set("s0", Term(combine, ("s0", "r0")))],
        (finish,),
    )


def total(result: str, value: str) -> Fold:
    return fold(result, "float", "0.0f", ("{0} + {1}", value), "{0} + {1}")


CASES: dict[str, Callable[..., Case]] = {}


def case(function: Callable[..., Case]) -> Callable[..., Case]:
    CASES[function.__name__] = function
    return function


def floats(rng, *shape: int) -> np.ndarray:
    return rng.standard_normal(shape).astype(np.float32)
