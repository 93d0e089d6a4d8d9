"""What compiled code calls: kernels, built in the background when the code is loaded."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache, partial
from typing import Any

import torch._C._dynamo.guards
import xpu_runtime as xr
from torch._inductor.codecache import LambdaFuture
from torch_xpu import _device

# The runtime's helper processes build; a thread waits for each build.
_WAITING = 8

# The module of a compiled graph looks it up after it has imported this one.
empty_strided = torch._C._dynamo.guards._empty_strided_xpu = _device.empty_strided


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_WAITING, thread_name_prefix="inductor_xpu")


def load_kernel(
    name: str, device: int, launch: tuple[int, int, str, tuple[int, ...]], source: str
) -> LambdaFuture:
    """Return the future of a function that launches a kernel with the tensors and sizes given."""
    built: Future[Any] = _pool().submit(_build, name, device, source)
    return LambdaFuture(lambda: _launcher(built.result(), launch), built)


def _build(name: str, device: int, source: str) -> Any:
    return xr.compile(source, device=device).kernel(name)


def _launcher(kernel: Any, launch: tuple[int, int, str, tuple[int, ...]]) -> Callable[..., None]:
    groups, group, types, sizes = launch
    launcher = xr.Launcher(kernel, types)
    return partial(_call, launcher, groups * group, group, sizes)


def _call(launcher: Any, items: int, group: int, sizes: tuple[int, ...], *arguments: Any) -> None:
    launcher(items, group, *arguments, *sizes)
