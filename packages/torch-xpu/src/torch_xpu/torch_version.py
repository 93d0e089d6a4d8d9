"""Whether this PyTorch is one that the package was compiled for; other adapters of PyTorch ask too.

What is compiled lies in a folder for each minor version of PyTorch, whose modules are imported as the
package's own.
"""

from __future__ import annotations

import functools
import sys
from pathlib import Path

import torch
from xpu_runtime.framework_version import Mismatch, find_mismatch, is_development

_PACKAGE = Path(__file__).parent
#: The minor version of this PyTorch, such as (2, 13).
RELEASE = tuple(int(number) for number in str(torch.__version__).split(".")[:2])
#: The folder of the modules, libraries and headers for this PyTorch; it may be missing.
COMPILED_FOLDER = _PACKAGE / f"torch_{RELEASE[0]}_{RELEASE[1]}"

sys.modules[__package__].__path__.append(str(COMPILED_FOLDER))


@functools.cache
def mismatch() -> Mismatch | None:
    """Return None if the adapter may load its libraries and change PyTorch."""
    version = str(torch.__version__)
    if found := find_mismatch("torch-xpu", "torch", version):
        return found
    install = f"{sys.executable} -m pip install --force-reinstall"
    if torch.version.xpu:
        index = "--index-url https://download.pytorch.org/whl/cpu"
        return Mismatch(
            f"torch {version} is PyTorch's build for Intel GPUs, which has an xpu of its own: torch-xpu "
            "leaves it alone",
            f'{install} --no-deps "torch=={version.partition("+")[0]}" {index}',
        )
    # A build from source is for the PyTorch that it was built with.
    compiled = sorted(path.name[6:].replace("_", ".") for path in _PACKAGE.glob("torch_[0-9]*_*"))
    if COMPILED_FOLDER.is_dir() and not is_development(version):
        return None
    return Mismatch(
        f"this torch-xpu was compiled for releases of torch {', '.join(compiled)}, and this is torch "
        f"{version}: torch has no device xpu",
        f'{install} "torch=={compiled[-1]}.*"',
    )
