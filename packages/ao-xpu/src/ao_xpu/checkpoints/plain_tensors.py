"""The tensors of a checkpoint that are not quantized, and the parameters and buffers that they fill."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import torch
from torch import Tensor


class PlainTensors:
    """Tensors to copy into a model. Raises ValueError for names or shapes that do not fit."""

    def __init__(
        self,
        model: torch.nn.Module,
        tensors: Mapping[str, Any],
        used: Collection[str],
        *,
        quantized: Collection[str],
        strict: bool,
    ) -> None:
        self.model = model
        weights = {f"{name}.weight".lstrip(".") for name in quantized}
        targets = _targets(model, weights)
        self.tensors, unexpected = {}, []
        for key in tensors:
            if key in targets and key not in used:
                self.tensors[key] = _fitting(key, tensors[key], targets[key])
            elif key not in used and not _is_empty_bias(key, tensors, weights):
                unexpected.append(key)
        filled = {id(targets[key]) for key in self.tensors}
        missing = [key for key, target in targets.items() if id(target) not in filled]
        if strict and (missing or unexpected):
            raise ValueError(f"missing: {_listed(missing)}; unexpected: {_listed(unexpected)}")
        self.targets = targets

    def load(self) -> None:
        """Copy the tensors; those of the device meta are replaced by tensors on xpu."""
        for key, tensor in self.tensors.items():
            target = self.targets[key]
            if target.is_meta:
                self._replace(target, tensor)
            else:
                with torch.no_grad():
                    target.copy_(tensor)

    def _replace(self, target: Tensor, tensor: Tensor) -> None:
        """Put a tensor wherever the model has the target: tied parameters stay tied."""
        new: Tensor = tensor.detach().to("xpu", target.dtype)
        if isinstance(target, torch.nn.Parameter):
            new = torch.nn.Parameter(new, target.requires_grad)
        for key, other in self.targets.items():
            if other is target:
                owner, _, name = key.rpartition(".")
                setattr(self.model.get_submodule(owner), name, new)


def _targets(model: torch.nn.Module, weights: Collection[str]) -> dict[str, Tensor]:
    """Return the parameters and buffers to be filled: all but buffers that a model computes itself."""
    saved = model.state_dict(keep_vars=True).keys()
    tensors = [
        *model.named_parameters(remove_duplicate=False),
        *model.named_buffers(remove_duplicate=False),
    ]
    return {k: t for k, t in tensors if k not in weights and (k in saved or t.is_meta)}


def _fitting(key: str, tensor: Any, target: Tensor) -> Tensor:
    if not isinstance(tensor, Tensor) or tensor.shape != target.shape:
        got = getattr(tensor, "shape", type(tensor).__name__)
        raise ValueError(f"{key}: got {got}, expected shape {tuple(target.shape)}")
    return tensor


def _is_empty_bias(key: str, tensors: Mapping[str, Any], weights: Collection[str]) -> bool:
    """Return whether the tensor is a bias of zeros, which AutoGPTQ saves of layers without one."""
    name, _, suffix = key.rpartition(".")
    if suffix != "bias" or f"{name}.weight".lstrip(".") not in weights:
        return False
    return not tensors[key].any()


def _listed(names: list[str]) -> str:
    shown = ", ".join(names[:8]) or "nothing"
    return shown if len(names) <= 8 else f"{shown} and {len(names) - 8} more"
