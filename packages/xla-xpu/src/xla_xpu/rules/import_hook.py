"""Calls a function when a module of JAX is imported, for modules that are slow and seldom imported."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


def call_on_import(name: str, call: Callable[[Any], None]) -> None:
    """Call ``call`` with the module: now if it is imported already, otherwise after its import."""
    if name in sys.modules:
        call(sys.modules[name])
    else:
        sys.meta_path.insert(0, _Finder(name, call))


class _Finder:
    """A finder that makes the module's own loader call the function."""

    def __init__(self, name: str, call: Callable[[Any], None]) -> None:
        self.name, self.call = name, call

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != self.name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def execute_and_call(module: ModuleType) -> None:
            execute(module)
            self.call(module)

        spec.loader.exec_module = execute_and_call  # type: ignore[method-assign]
        return spec
