"""Run kernels in Triton's interpreter, in a process of its own: ``TRITON_INTERPRET=1 python interpret.py FOLDER NAME...``.

Triton reads the variable while it is imported. FOLDER has the modules of the cases; results go there too.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).parents[1]))


def load_kernel(folder: Path, name: str, text: str) -> Any:
    """Return the kernel of a module that is written to a folder: Triton reads the source of its functions."""
    path = folder / f"{abs(hash(name))}_{len(name)}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.kernel


def main() -> None:
    """Write results.pt: for each case the arrays, or the text of an error."""
    from language import CASES

    folder = Path(sys.argv[1])
    results: dict[str, Any] = {}
    for name in sys.argv[2:]:
        case = CASES[name]
        try:
            results[name] = case.interpret(load_kernel(folder, name, case.module(interpreted=True)))
        except Exception as error:  # of one case; its test reports it
            results[name] = f"{type(error).__name__}: {error}"
    torch.save(results, folder / "results.pt")


if __name__ == "__main__":
    main()
