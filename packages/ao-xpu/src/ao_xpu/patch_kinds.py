"""Kinds of changes to torchao. Each names its target, and its reason.

A replacement is a function of the stock object, and behaves like it for tensors of other devices.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import torch

logger = logging.getLogger("ao_xpu")


@dataclass(frozen=True)
class Patch:
    """The target ``name`` in ``module``, and what it becomes: ``replace`` of the stock object."""

    module: str
    name: str
    reason: str
    replace: Callable[[Any], Any]

    def apply(self, module: ModuleType) -> None:
        """Change the module, which was just imported; log a target that it does not have."""
        try:
            self._change(module)
        except (AttributeError, KeyError):
            logger.warning("%s has no %s: it is unchanged", self.module, self.name)

    def _change(self, module: ModuleType) -> None:
        *path, name = self.name.split(".")
        owner = functools.reduce(getattr, path, module)
        setattr(owner, name, self.replace(getattr(owner, name)))


@dataclass(frozen=True)
class TensorFunctions(Patch):
    """Handlers of a tensor class: ``name`` is the class, ``functions`` are torch functions or aten overloads.

    A handler has the arguments ``(func, types, args, kwargs)`` of torchao's own.
    """

    functions: tuple[Any, ...] = ()

    def _change(self, module: ModuleType) -> None:
        cls = getattr(module, self.name)
        for function in self.functions:
            is_overload = isinstance(function, torch._ops.OpOverload)
            table = (cls._ATEN_OP_TABLE if is_overload else cls._TORCH_FN_TABLE)[cls]
            missing = _missing_overload(cls) if is_overload else _default_function
            table[function] = self.replace(table.get(function, missing))


@dataclass(frozen=True)
class ConfigHandler(Patch):
    """The function by which ``quantize_`` applies the config class ``name`` to a module."""

    def _change(self, module: ModuleType) -> None:
        from torchao.quantization.transform_module import _QUANTIZE_CONFIG_HANDLER

        config = getattr(module, self.name)
        _QUANTIZE_CONFIG_HANDLER[config] = self.replace(_QUANTIZE_CONFIG_HANDLER[config])


def _default_function(func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """Do what torchao does for a torch function without a handler."""
    with torch._C.DisableTorchFunctionSubclass():
        return func(*args, **kwargs)


def _missing_overload(cls: type) -> Callable[..., Any]:
    def raise_error(func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        raise NotImplementedError(f"{cls.__name__} has no handler of {func}")

    return raise_error
