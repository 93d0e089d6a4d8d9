"""Hooks that change modules of PyTorch when a program imports them, and not before."""

from __future__ import annotations

import importlib.abc
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

_Change = Callable[[ModuleType], None]


class _Finder(importlib.abc.MetaPathFinder):
    """A finder that delegates to the others and changes a module once it has been executed."""

    def __init__(self, changes: dict[str, _Change]) -> None:
        self.changes = changes

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        change = self.changes.get(name)
        if change is None:
            return None
        others = (finder for finder in sys.meta_path if finder is not self)
        specs = (finder.find_spec(name, path, target) for finder in others)
        spec = next((spec for spec in specs if spec is not None), None)
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def execute_and_change(module: ModuleType) -> None:
            execute(module)
            change(module)

        spec.loader.exec_module = execute_and_change  # type: ignore[method-assign]
        return spec


def change(changes: dict[str, _Change]) -> None:
    """Call each function with the module of its name, now or once the module is imported."""
    for name in changes.keys() & sys.modules.keys():
        changes[name](sys.modules[name])
    sys.meta_path.insert(0, _Finder(changes))
