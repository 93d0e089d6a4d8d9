"""The device ``xpu`` for stock PyTorch wheels.

``import torch`` loads this by itself; import it only for what it adds to ``torch.xpu``.
"""

from __future__ import annotations

from pathlib import Path

import torch  # noqa: F401 - loads the bridge, through the entry point

from ._fallback import fallback_mode, fallbacks, reset_fallbacks, using_fallback
from ._streams import from_runtime_stream, to_runtime_stream

__version__ = "0.1.0rc1"
# For CMAKE_PREFIX_PATH of C++ programs, as torch.utils.cmake_prefix_path.
cmake_prefix_path = str(Path(__file__).parent / "share" / "cmake")
__all__ = [
    "cmake_prefix_path",
    "fallback_mode",
    "fallbacks",
    "from_runtime_stream",
    "reset_fallbacks",
    "to_runtime_stream",
    "using_fallback",
]
