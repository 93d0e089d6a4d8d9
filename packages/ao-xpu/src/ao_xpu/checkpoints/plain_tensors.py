"""The tensors of a checkpoint that are not quantized, and the parameters and buffers that they fill."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import torch
from torch import Tensor

from .files import is_quantized


class PlainTensors:
    """Tensors to copy into a model. Raises ValueError for names, shapes and types that do not fit.

    ``used`` are names of the checkpoint that are converted, ``replaced`` those of the model that they fill.
    """

    def __init__(
        self,
        model: torch.nn.Module,
        tensors: Mapping[str, Any],
        used: Collection[str],
        *,
        replaced: Collection[str],
        strict: bool,
    ) -> None:
        self.model = model
        targets = _targets(model, replaced)
        self.tensors, unexpected = {}, []
        for key in tensors:
            if key in targets and key not in used:
                self.tensors[key] = _fitting(key, tensors[key], targets[key])
            elif key not in used and not _is_empty_bias(key, tensors, replaced):
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
            if _is_replaced(target):
                self._replace(target, tensor)
            else:
                with torch.no_grad():
                    target.copy_(tensor)

    def _replace(self, target: Tensor, tensor: Tensor) -> None:
        """Put a tensor wherever the model has the target: tied parameters stay tied."""
        new = tensor
        if isinstance(target, torch.nn.Parameter):
            new = torch.nn.Parameter(new, target.requires_grad)
        for key, other in self.targets.items():
            if other is target:
                owner, _, name = key.rpartition(".")
                setattr(self.model.get_submodule(owner), name, new)


def _targets(model: torch.nn.Module, replaced: Collection[str]) -> dict[str, Tensor]:
    """Return the parameters and buffers to be filled: all but buffers that a model computes itself."""
    saved = model.state_dict(keep_vars=True).keys()
    tensors = [
        *model.named_parameters(remove_duplicate=False),
        *model.named_buffers(remove_duplicate=False),
    ]
    return {k: t for k, t in tensors if k not in replaced and (k in saved or t.is_meta)}


def _is_replaced(target: Tensor) -> bool:
    """Return whether nothing can be copied into the tensor."""
    return target.is_meta or (target.is_inference() and not torch.is_inference_mode_enabled())


def _fitting(key: str, tensor: Any, target: Tensor) -> Tensor:
    """Return the tensor in the type of the target, so that no copy fails afterwards."""
    if not isinstance(tensor, Tensor) or tensor.shape != target.shape:
        got = getattr(tensor, "shape", type(tensor).__name__)
        raise ValueError(f"{key}: got {got}, expected shape {tuple(target.shape)}")
    for place, given in (("checkpoint", tensor), ("model", target)):
        if is_quantized(given):
            raise ValueError(
                f"{key}: the {place} has a {type(given).__name__}, which is not copied: "
                "floats fill a model that is not quantized, and a quantized weight an nn.Linear"
            )
    if not _is_value_of(tensor.dtype, target.dtype):
        raise ValueError(f"{key}: got numbers of {tensor.dtype}, expected {target.dtype}")
    detached = tensor.detach().to(target.dtype)
    if not _is_replaced(target):
        return detached
    return detached.to("xpu" if target.is_meta else target.device, copy=True)


def _is_value_of(dtype: torch.dtype, target: torch.dtype) -> bool:
    """Return whether numbers of a type are values of another; those of eight bits have scales elsewhere."""
    if dtype == target:
        return True
    if not target.is_floating_point and not target.is_complex:
        return not dtype.is_floating_point and not dtype.is_complex
    is_float = dtype.is_floating_point and dtype.itemsize > 1
    return is_float or (dtype.is_complex and target.is_complex)


def _is_empty_bias(key: str, tensors: Mapping[str, Any], replaced: Collection[str]) -> bool:
    """Return whether the tensor is a bias of zeros, which AutoGPTQ saves of layers without one."""
    name, _, suffix = key.rpartition(".")
    if suffix != "bias" or f"{name}.weight".lstrip(".") not in replaced:
        return False
    return not tensors[key].any()


def _listed(names: list[str]) -> str:
    shown = ", ".join(names[:8]) or "nothing"
    return shown if len(names) <= 8 else f"{shown} and {len(names) - 8} more"
