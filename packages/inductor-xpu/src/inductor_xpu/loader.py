"""What compiled code calls: kernels, built in the background, and numbers as their arguments."""

from __future__ import annotations

from ctypes import c_double, c_float, c_int32, c_int64
from operator import itemgetter
from typing import Any

import torch._C._dynamo.guards
import xpu_runtime as xr
from torch._inductor.async_compile import get_compile_threads
from torch._inductor.codecache import LambdaFuture
from torch_xpu import compiled_code
from xpu_runtime.codegen.division import Division
from xpu_runtime.codegen.target import Target

from .builds import load_faults, note_loaded, start_build

__all__ = [
    "Division",
    "Target",
    "double_bits",
    "float_bits",
    "int_bits",
    "load_faults",
    "load_kernel",
]

# Sets of sizes whose launches a kernel remembers.
MAX_LAUNCHES = 1024

# The module of a compiled graph looks it up after it has imported this one.
empty_strided = torch._C._dynamo.guards._empty_strided_xpu = compiled_code.empty_strided


def int_bits(value: float) -> int:
    """Return a number, truncated to an integer, as the argument of a kernel."""
    return c_int64(int(value)).value


def float_bits(value: float) -> int:
    """Return the bits of a number as f32, as the argument of a kernel."""
    return c_int32.from_buffer(c_float(value)).value


def double_bits(value: float) -> int:
    """Return the bits of a number as f64, as the argument of a kernel."""
    return c_int64.from_buffer(c_double(value)).value


def load_kernel(
    name: str,
    device: int,
    source: str,
    types: str,
    group: int = 0,
    symbols: tuple[str, ...] = (),
    division: Division | None = None,
) -> Any:
    """Return the future of a Launcher; of a SizedLauncher if the kernel has symbols.

    Where Inductor compiles in one thread, as on one core, it waits for no futures: then return the launcher.
    """
    built = start_build(name, device, source)
    note_loaded(device, source)

    def launcher() -> Any:
        plain = xr.Launcher(built.result(), types)
        return plain if division is None else SizedLauncher(plain, group, symbols, division)

    return LambdaFuture(launcher, built) if get_compile_threads() > 1 else launcher()


class SizedLauncher:
    """Launches a kernel for many shapes: with the values of its symbols, then its arrays."""

    def __init__(
        self, launcher: Any, group: int, symbols: tuple[str, ...], division: Division
    ) -> None:
        self.launcher, self.group = launcher, group
        self.symbols, self.division = symbols, division
        # The values that division reads. Others, such as a learning rate, may change with every call.
        # Where it reads none, their number is a key that never changes.
        positions = [symbols.index(name) for name in division.symbols]
        self.divided = itemgetter(*positions) if positions else len
        self.launches: dict[Any, tuple[int, tuple[int, ...]]] = {}

    def __call__(self, values: tuple[int, ...], *arrays: Any) -> None:
        launch = self.launches.get(self.divided(values)) or self._divide(values)
        if launch[0]:
            self.launcher(launch[0], self.group, *arrays, *values, *launch[1])

    def _divide(self, values: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
        """Return the number of work-items and the size arguments, and remember them."""
        groups, sizes = self.division.launch(dict(zip(self.symbols, values, strict=True)))
        if len(self.launches) >= MAX_LAUNCHES:
            self.launches.clear()
        launch = self.launches[self.divided(values)] = groups * self.group, sizes
        return launch
