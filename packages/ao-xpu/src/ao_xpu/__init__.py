"""TorchAO on xpu: its configs as they come, on products and operators of xpu.

`import torch` loads this by itself, and changes torchao once a program imports it. So does `import ao_xpu`.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import torch  # loads torch_xpu, and this package's entry point

from ._autoload import load

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from .layers import Report
    from .trials import Diagnosis

load()

__all__ = ["doctor", "load_gguf", "report", "set_rope_frequencies", "strict"]


def report(model: torch.nn.Module) -> Report:
    """Return the linear layers and embeddings of a model: what they store, how they compute."""
    from .layers import report

    return report(model)


def doctor() -> Diagnosis:
    """Try each of torchao's inference configs on a small layer, and return which work."""
    from .trials import doctor

    return doctor()


def strict() -> AbstractContextManager[None]:
    """Return a context in which ``quantize_`` raises ValueError for layers that it does not quantize."""
    from .layers import strict

    return strict()


def load_gguf(
    path: str | os.PathLike[str],
    device: torch.device | str = "xpu",
    dtype: torch.dtype = torch.bfloat16,
) -> dict[str, torch.Tensor]:
    """Return the state dict of a GGUF file of llama.cpp, by transformers' names; matrices stay quantized."""
    from .gguf import load_gguf

    return load_gguf(path, device, dtype)


def set_rope_frequencies(model: torch.nn.Module, path: str | os.PathLike[str]) -> None:
    """Give a model of transformers the frequencies of rotations of a GGUF file, whatever its config says."""
    from .gguf import set_rope_frequencies

    set_rope_frequencies(model, path)
