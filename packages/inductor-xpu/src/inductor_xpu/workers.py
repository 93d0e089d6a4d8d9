"""Inductor's worker processes, which compile Triton: a graph that has none of it starts none."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import torch

_is_prevented = ContextVar("_is_prevented", default=False)


@contextmanager
def prevented_for(inputs: Sequence[Any]) -> Iterator[None]:
    """Return a `with` block that compiles a graph with tensors on xpu, whose kernels are not Triton's.

    Inputs on CUDA devices have such kernels, so with them the workers start as ever.
    """
    has_triton = any(isinstance(x, torch.Tensor) and x.device.type == "cuda" for x in inputs)
    token = _is_prevented.set(not has_triton)
    try:
        yield
    finally:
        _is_prevented.reset(token)


def unless_prevented(start: Callable[[], None]) -> Callable[[], None]:
    """Return a function that starts the workers outside of such blocks."""

    def wakeup() -> None:
        if not _is_prevented.get():
            start()

    return wakeup
