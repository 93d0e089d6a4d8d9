"""Modules of tests whose names of CUDA are replaced by those of xpu as they are imported.

Files stay as they are. A file that names xpu chooses its device itself and is imported unchanged.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from xpu_testing.cuda_names import CudaNames, RenamingLoader

# Gates of torchao that ask for hardware or packages of CUDA, and what tests get for them. Our kernels serve
# what is behind them; tests that need the package itself fail, with a reason in `reasons.toml`.
GATES = {
    "is_sm_at_least_89": lambda: True,
    "is_sm_at_least_90": lambda: True,
    "is_sm_at_least_100": lambda: True,
    "is_cuda_version_at_least": lambda major, minor: True,
    "get_compute_capability": lambda: 10.0,
    "_is_mslk_available": lambda: True,
}
_NAMESPACE = "_xpu_as_cuda"
# Chooses devices for tests by `torch.cuda.is_available()`, though it names xpu elsewhere.
_ALWAYS = ("torchao.testing.utils",)


class XpuAsCuda:
    """The namespace that tests get for ``torch.cuda``: that of ``torch.xpu``, with a capability of CUDA."""

    def __getattr__(self, name: str) -> Any:
        return getattr(torch.xpu, name)

    def get_device_capability(self, device: Any = None) -> tuple[int, int]:
        """Return the capability that has float4 products, as tests compare it with others."""
        return (10, 0)


class TorchaoNames(CudaNames):
    """Replaces devices, methods, the namespace and gates of CUDA by those of xpu."""

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:  # noqa: N802
        """Replace ``torch.cuda`` by a namespace that has a capability."""
        if node.attr == "cuda" and isinstance(node.value, ast.Name) and node.value.id == "torch":
            return ast.copy_location(ast.Name(_NAMESPACE, ast.Load()), node)
        return super().visit_Attribute(node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.ImportFrom | None:  # noqa: N802
        """Leave out the import of gates, which the module has already."""
        if node.module == "torchao.utils":
            node.names = [name for name in node.names if name.asname or name.name not in GATES]
        return node if node.names else None


class CudaTests(MetaPathFinder):
    """Finds the modules below a folder that name CUDA and not xpu."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return a spec with the renaming loader, or None for what is imported unchanged."""
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or not isinstance(spec.loader, SourceFileLoader):
            return None
        if fullname in _ALWAYS or self.renames(Path(spec.loader.path)):
            values = {**GATES, _NAMESPACE: XpuAsCuda()}
            spec.loader = RenamingLoader(spec.name, spec.loader.path, TorchaoNames(), values)
            return spec
        return None

    def renames(self, file: Path) -> bool:
        """Return True if the file is in the folder, names CUDA and does not name xpu."""
        if not file.resolve().is_relative_to(self._folder):
            return False
        source = file.read_text()
        return "cuda" in source and "xpu" not in source


def install(folder: Path) -> CudaTests:
    """Replace names in what is imported from now on; return the finder."""
    finder = CudaTests(folder.resolve())
    sys.meta_path.insert(0, finder)
    return finder
