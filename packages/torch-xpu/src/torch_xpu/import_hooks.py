"""Hooks that change modules of PyTorch when a program imports them, and not before."""

from __future__ import annotations

import importlib.abc
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

_Change = Callable[[ModuleType], None]


class _Finder(importlib.abc.MetaPathFinder):
    """A finder that delegates to the others and changes a module once it has been executed.

    A process has one: two with a change of the same module would delegate to each other without end.
    """

    def __init__(self) -> None:
        self.changes: dict[str, list[_Change]] = {}

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name not in self.changes:
            return None
        others = (finder for finder in sys.meta_path if finder is not self)
        specs = (finder.find_spec(name, path, target) for finder in others)
        spec = next((spec for spec in specs if spec is not None), None)
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def execute_and_change(module: ModuleType) -> None:
            execute(module)
            for change in self.changes[name]:
                change(module)

        spec.loader.exec_module = execute_and_change  # type: ignore[method-assign]
        return spec


_finder = _Finder()


def change(changes: dict[str, _Change]) -> None:
    """Call each function with the module of its name: now, or once the module is imported."""
    for name, function in changes.items():
        if name in sys.modules:
            function(sys.modules[name])
        _finder.changes.setdefault(name, []).append(function)
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)
