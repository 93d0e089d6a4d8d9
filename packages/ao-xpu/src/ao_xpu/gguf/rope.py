"""Frequencies of rotations that a GGUF file stores, and which no state dict has.

Models of Llama 3.1 and later have factors in the tensor `rope_freqs.weight`, which divide frequencies;
others have a scaling of all frequencies in the fields. transformers computes them from a config, which has
neither if it was read from the file.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

FACTORS = "rope_freqs.weight"


class Rope:
    """The rotations of the model of a file, which is open as a ``gguf.GGUFReader``."""

    def __init__(self, file: Any, architecture: str) -> None:
        def number(key: str, default: float) -> Any:
            field = file.fields.get(f"{architecture}.{key}")
            value = default if field is None else field.contents()
            if not isinstance(value, int | float) or value < 0:
                raise ValueError(f"{architecture}.{key}: got {value!r}, expected a number")
            return value

        self._base = number("rope.freq_base", 10000.0)
        width = number("embedding_length", 0) // max(number("attention.head_count", 1), 1)
        self._length = number("rope.dimension_count", number("attention.key_length", width))
        # Older files have no type.
        field = file.fields.get(f"{architecture}.rope.scaling.type")
        self._scaling = "linear" if field is None else field.contents()
        self._divisor = number("rope.scaling.factor", number("rope.scale_linear", 1.0))
        if self._divisor in (0, 1):
            self._scaling = "none"
        factors = [tensor.data for tensor in file.tensors if tensor.name == FACTORS]
        self._factors = torch.from_numpy(factors[0].copy()).float() if factors else torch.ones(())

    @property
    def warning(self) -> str:
        """What a state dict lacks, and what to do about it, or an empty text."""
        if self._scaling not in ("none", "linear"):
            return (
                f"rotations have a scaling of type {self._scaling}, which a state dict lacks: the "
                "config of the model needs it in rope_parameters"
            )
        changes = ["rope.scaling.factor is not 1"] * (self._scaling == "linear")
        changes += [f"{FACTORS} is not all ones"] * bool((self._factors != 1).any())
        if not changes:
            return ""
        return (
            f"{' and '.join(changes)}: it divides frequencies of rotations, which a state dict lacks. "
            "Call ao_xpu.set_rope_frequencies(model, path) too"
        )

    def frequencies(self) -> Tensor:
        """Return the frequencies [numbers of a head / 2] in f32, by the formula of transformers.

        Raise ValueError for a scaling of another type than `linear`.
        """
        if self._scaling not in ("none", "linear"):
            raise ValueError(f"rotations with a scaling of type {self._scaling}: expected linear")
        exponents = torch.arange(0, self._length, 2, device="cpu").float() / max(self._length, 1)
        frequencies = 1.0 / self._base**exponents
        if self._scaling == "linear":
            frequencies /= self._divisor
        if self._factors.dim() and self._factors.shape != frequencies.shape:
            got, expected = tuple(self._factors.shape), tuple(frequencies.shape)
            raise ValueError(f"{FACTORS}: got shape {got}, expected {expected}")
        return frequencies / self._factors


def set_frequencies(model: torch.nn.Module, frequencies: Tensor) -> None:
    """Replace the buffers `inv_freq` of a model of transformers; raise ValueError if there are none."""
    found = [m for m in model.modules() if isinstance(getattr(m, "inv_freq", None), Tensor)]
    if not found:
        raise ValueError("the model has no buffer inv_freq: expected a model of transformers")
    for module in found:
        kind = str(getattr(module, "rope_type", "default"))
        if module.inv_freq.shape != frequencies.shape or kind in ("dynamic", "longrope", "yarn"):
            got = f"{tuple(module.inv_freq.shape)} of type {kind}"
            expected = f"{tuple(frequencies.shape)} of type default, linear or llama3"
            raise ValueError(f"inv_freq: got {got}, expected {expected}")
    for module in found:
        module.inv_freq = frequencies.to(module.inv_freq.device)
        if hasattr(module, "original_inv_freq"):
            module.original_inv_freq = module.inv_freq
