"""Inductor's worker processes, which compile Triton: they start for graphs that have much of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import torch

_is_prevented = ContextVar("_is_prevented", default=False)


@contextmanager
def prevented_for(inputs: Sequence[Any], compiles_triton: bool) -> Iterator[None]:
    """Return a `with` block that compiles a graph with tensors on xpu.

    A few kernels of the user's are compiled in this process, before workers would have started. Workers start
    where Inductor writes kernels of Triton, and, as ever, for inputs on CUDA devices.
    """
    on_cuda = any(isinstance(x, torch.Tensor) and x.device.type == "cuda" for x in inputs)
    token = _is_prevented.set(not (on_cuda or compiles_triton))
    try:
        yield
    finally:
        _is_prevented.reset(token)


def unless_prevented(use_workers: Callable[[], bool]) -> Callable[[], bool]:
    """Return a function that starts the workers outside of such blocks, and tells whether they are ready."""

    def use_process_pool() -> bool:
        return not _is_prevented.get() and use_workers()

    return use_process_pool


def only_for_cuda(warm_pool: Callable[[], None]) -> Callable[[], None]:
    """Return a function that starts workers before the first compilation if there is a CUDA device."""

    def maybe_warm_pool() -> None:
        if torch.cuda.is_available():
            warm_pool()

    return maybe_warm_pool
