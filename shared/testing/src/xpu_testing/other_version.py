"""A framework that says it is of another version, to a process and to all processes that it starts."""

from __future__ import annotations

import os
from pathlib import Path

_SITE = """
import importlib.machinery
import sys

class Other:
    def find_spec(self, name, path=None, target=None):
        if name != {module!r}:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        execute = spec.loader.exec_module

        def exec_module(module):
            execute(module)
            module.__version__ = {version!r}

        spec.loader.exec_module = exec_module
        return spec

sys.meta_path.insert(0, Other())
"""


def pretend_version(folder: Path, module: str, version: str) -> dict[str, str]:
    """Return variables for a child in which ``module.__version__`` is another one from its import on.

    ``folder`` must be empty; it gets a file that Python runs at its start.
    """
    (folder / "sitecustomize.py").write_text(_SITE.format(module=module, version=version))
    others = [path for path in (os.environ.get("PYTHONPATH"),) if path]
    return {"PYTHONPATH": os.pathsep.join([str(folder), *others])}
