"""TorchAO on xpu: its configs as they come, on products and operators of xpu.

`import torch` loads this by itself, and changes torchao once a program imports it. So does `import ao_xpu`.
"""

from __future__ import annotations

import torch  # noqa: F401 - loads torch_xpu, and this package's entry point

from ._autoload import load
from .layers import report

load()

__all__ = ["report"]
