"""Tests whose names of CUDA are replaced by those of xpu as they are imported; files stay as they are."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from importlib.machinery import SourceFileLoader
from types import CodeType, ModuleType
from typing import Any


class CudaNames(ast.NodeTransformer):
    """Replaces devices, methods and the namespace of CUDA by those of xpu."""

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        """Replace the name of a device, alone or with an index."""
        if isinstance(node.value, str) and re.fullmatch(r"cuda(:\d*)?", node.value):
            return ast.copy_location(ast.Constant("xpu" + node.value[4:]), node)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        """Replace ``torch.cuda`` and the methods ``cuda`` and ``is_cuda`` of tensors and modules."""
        self.generic_visit(node)
        node.attr = {"cuda": "xpu", "is_cuda": "is_xpu"}.get(node.attr, node.attr)
        return node


class RenamingLoader(SourceFileLoader):
    """Compiles a file with its names replaced, always from its source."""

    def __init__(
        self, name: str, path: str, names: ast.NodeTransformer, values: Mapping[str, Any]
    ) -> None:
        super().__init__(name, path)
        self._names = names
        self._values = values

    def get_code(self, fullname: str) -> CodeType:
        """Return the code of the module, never that of a cached file, which has its names as they are."""
        tree = self._names.visit(ast.parse(self.get_data(self.path), self.path))
        return compile(ast.fix_missing_locations(tree), self.path, "exec", dont_inherit=True)

    def exec_module(self, module: ModuleType) -> None:
        """Execute the module, which finds the values among its globals."""
        vars(module).update(self._values)
        super().exec_module(module)
