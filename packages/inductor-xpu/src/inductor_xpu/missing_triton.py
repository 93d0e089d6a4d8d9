"""What ``import triton`` says where Triton is not installed: which extra of xpu-sdk brings it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

from .triton_use import EXTRA

# Python's function that imports a module by name. Others, as importlib.util.find_spec(), only ask whether
# there is one, and are to be told no.
_IMPORTS = "_find_and_load_unlocked"


class _Finder:
    """The last finder of modules: it finds none, and raises for Triton that no other has found."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name == "triton" and sys._getframe(2).f_code.co_name == _IMPORTS:
            raise ModuleNotFoundError(
                f"No module named 'triton'. Kernels of @triton.jit run on xpu with Triton: {EXTRA}",
                name="triton",
            )
        return None


def explain() -> None:
    """Let imports of Triton that fail say what to install."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.append(_Finder())  # type: ignore[arg-type]
