"""PyTorch's tests of distributed, imported with the names of xpu and XCCL instead of CUDA's and NCCL's."""

from __future__ import annotations

import ast
import functools
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType

import torch
from xpu_testing.cuda_names import CudaNames, RenamingLoader

MODULE = "torch.testing._internal.distributed.distributed_test"
# Decorators that leave out a test because of the backend's name: xpu's backends have neither limits, so tests
# of the CPU's tensors and of a GPU's run with both.
_BACKEND_CONDITIONS = (
    "skip_but_pass_in_sandcastle_if",
    "require_backend_is_available",
    "requires_nccl_version",
    "nccl_skip_if_lt_x_gpu",
    "require_n_gpus_for_nccl_backend",
)
_ATTRIBUTES = {
    "CUDA": "XPU",
    "NCCL": "XCCL",
    "ProcessGroupNCCL": "ProcessGroupXCCL",
    "is_nccl_available": "is_xccl_available",
}
# Of torch.cuda.amp, which the tests import; torch.xpu has no such module.
_AMP = {
    "autocast": functools.partial(torch.amp.autocast, "xpu"),
    "GradScaler": functools.partial(torch.amp.GradScaler, "xpu"),
}
_MIN_GROUP_RANKS = 3  # groups of a part are of the ranks 1 and 2


class XcclNames(CudaNames):
    """Replaces names of CUDA and NCCL, and removes conditions on the backend."""

    def visit_Constant(self, node: ast.Constant) -> ast.expr:  # noqa: N802
        """Replace the name of the backend, too."""
        if node.value == "nccl":
            return ast.copy_location(ast.Constant("xccl"), node)
        return super().visit_Constant(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:  # noqa: N802
        """Replace the names of NCCL that PyTorch has for XCCL."""
        node.attr = _ATTRIBUTES.get(node.attr, node.attr)
        return super().visit_Attribute(node)

    def visit_Call(self, node: ast.Call) -> ast.Call:  # noqa: N802
        """Let Kineto record profiles of a device: the profiler before it knows CUDA alone."""
        self.generic_visit(node)
        if any(keyword.arg == "use_device" for keyword in node.keywords):
            node.keywords.append(ast.keyword("use_kineto", ast.Constant(True)))
        return node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.ImportFrom | None:  # noqa: N802
        """Leave out what the module has among its globals already."""
        return None if node.module == "torch.cuda.amp" else node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:  # noqa: N802
        """Remove conditions on the backend; groups of a part need as many ranks as they name, not eight."""
        node.decorator_list = [_ranks(d) for d in node.decorator_list if not _names_backend(d)]
        self.generic_visit(node)
        return node


def _names_backend(decorator: ast.expr) -> bool:
    text = ast.unparse(decorator)
    if text.startswith("skip_but_pass_in_sandcastle_if"):
        return "BACKEND" in text
    return text.startswith(_BACKEND_CONDITIONS)


def _ranks(decorator: ast.expr) -> ast.expr:
    if ast.unparse(decorator) != "skip_if_small_worldsize":
        return decorator
    return ast.parse(f"require_world_size({_MIN_GROUP_RANKS})", mode="eval").body


class _Finder(MetaPathFinder):
    """Finds the module of the tests, with the renaming loader."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return a spec, or None for every other module."""
        if fullname != MODULE:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        assert spec is not None
        assert isinstance(spec.loader, SourceFileLoader)
        spec.loader = RenamingLoader(spec.name, spec.loader.path, XcclNames(), _AMP)
        return spec


def install() -> None:
    """Replace the names in the module of the tests when it is imported."""
    sys.meta_path.insert(0, _Finder())
