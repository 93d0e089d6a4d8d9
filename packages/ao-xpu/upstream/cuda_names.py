"""Modules of tests whose names of CUDA are replaced by those of xpu as they are imported.

Files stay as they are. A file that names xpu chooses its device itself and is imported unchanged.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import torch

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


class CudaNames(ast.NodeTransformer):
    """Replaces devices, methods, the namespace and gates of CUDA by those of xpu."""

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        """Replace the name of a device, alone or with an index."""
        if isinstance(node.value, str) and re.fullmatch(r"cuda(:\d*)?", node.value):
            return ast.copy_location(ast.Constant("xpu" + node.value[4:]), node)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        """Replace ``torch.cuda`` and the methods ``cuda`` and ``is_cuda`` of tensors and modules."""
        self.generic_visit(node)
        if node.attr == "is_cuda":
            node.attr = "is_xpu"
        elif node.attr == "cuda":
            if isinstance(node.value, ast.Name) and node.value.id == "torch":
                return ast.copy_location(ast.Name(_NAMESPACE, ast.Load()), node)
            node.attr = "xpu"
        return node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.ImportFrom | None:
        """Leave out the import of gates, which the module has already."""
        if node.module == "torchao.utils":
            node.names = [name for name in node.names if name.asname or name.name not in GATES]
        return node if node.names else None


class RenamingLoader(SourceFileLoader):
    """Compiles a file with names of CUDA replaced, always from its source."""

    def get_code(self, fullname: str) -> CodeType:
        """Return the code of the module, never that of a cached file, which has its names as they are."""
        tree = CudaNames().visit(ast.parse(self.get_data(self.path), self.path))
        return compile(ast.fix_missing_locations(tree), self.path, "exec", dont_inherit=True)

    def exec_module(self, module: ModuleType) -> None:
        """Execute the module, which finds the namespace and the gates among its globals."""
        vars(module).update(GATES, **{_NAMESPACE: XpuAsCuda()})
        super().exec_module(module)


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
            spec.loader = RenamingLoader(spec.name, spec.loader.path)
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
