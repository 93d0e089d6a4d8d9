"""TorchAO on xpu: its configs as they come, on operators of xpu.

`import torch` loads this by itself, and changes torchao once a program imports it. So does `import ao_xpu`.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import torch  # loads torch_xpu, and this package's entry point

from ._autoload import load

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from .diagnostics.config_trials import Trials
    from .diagnostics.report import Report

load()

__all__ = ["load_gguf", "report", "set_rope_frequencies", "strict", "try_configs"]


def report(model: torch.nn.Module) -> Report:
    """Return the linear layers and embeddings of a model: what they store, which operators read it."""
    from .diagnostics.report import report

    return report(model)


def try_configs() -> Trials:
    """Try each of torchao's inference configs on a small layer, and return which work."""
    from .diagnostics.config_trials import try_configs

    return try_configs()


def strict() -> AbstractContextManager[None]:
    """Return a context in which ``quantize_`` raises ValueError for layers that it does not quantize."""
    from .diagnostics.strict import strict

    return strict()


def load_gguf(
    path: str | os.PathLike[str],
    device: torch.device | str = "xpu",
    dtype: torch.dtype = torch.bfloat16,
) -> dict[str, torch.Tensor]:
    """Return the state dict of a GGUF file of llama.cpp, by transformers' names; matrices stay quantized."""
    from .gguf.loading import load_gguf

    return load_gguf(path, device, dtype)


def set_rope_frequencies(model: torch.nn.Module, path: str | os.PathLike[str]) -> None:
    """Give a model of transformers the frequencies of rotations of a GGUF file, whatever its config says."""
    from .gguf.loading import set_rope_frequencies

    set_rope_frequencies(model, path)
