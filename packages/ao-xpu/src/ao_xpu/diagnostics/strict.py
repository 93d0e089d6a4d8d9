"""Strict mode: `quantize_` raises an error for layers that it does not quantize."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar

import torch

is_strict: ContextVar[bool] = ContextVar("ao_xpu_is_strict", default=False)


@contextlib.contextmanager
def strict() -> Iterator[None]:
    """Let `quantize_` raise DoesNotFitError in the place of the warning that names layers.

    The model is then as it was: its floats are kept until all layers have been quantized.
    """
    token = is_strict.set(True)
    try:
        yield
    finally:
        is_strict.reset(token)


@contextlib.contextmanager
def restored_on_error(model: torch.nn.Module) -> Iterator[None]:
    """Give all modules their classes, parameters and children again if an error is raised."""
    before = [
        (m, type(m), {k: v.copy() if isinstance(v, dict) else v for k, v in vars(m).items()})
        for m in model.modules()
    ]
    try:
        yield
    except BaseException:
        for module, cls, attributes in before:
            module.__class__ = cls
            vars(module).clear()
            vars(module).update(attributes)
        raise
