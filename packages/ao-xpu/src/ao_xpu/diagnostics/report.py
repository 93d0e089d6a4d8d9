"""The report of a model: what its layers store, which operators read it, why a layer is not quantized."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from .skipped_layers import is_plain, skip_reasons

_LOW_BIT = "low_bit_linear"
_OPERATORS = {
    "Int4Tensor": _LOW_BIT,
    "Int4PlainInt32Tensor": _LOW_BIT,
    "Int4PreshuffledTensor": _LOW_BIT,
    "Int4TilePackedTo4dTensor": _LOW_BIT,
    "Int8Tensor": _LOW_BIT,
    "Float8Tensor": _LOW_BIT,
    "IntxUnpackedToInt8Tensor": _LOW_BIT,
    "IntxPackedTensor": _LOW_BIT,
    "MXTensor": _LOW_BIT,
    "NVFP4Tensor": _LOW_BIT,
    "GgufTensor": _LOW_BIT,
    "SemiSparseTensor": "matmul",
}
_DYNAMIC_OPERATORS = {"Int8Tensor": "_int_mm", "Float8Tensor": "_scaled_mm"}


@dataclass(frozen=True)
class Layer:
    """A linear layer or embedding: bytes as floats and as stored, and the operator that reads it."""

    name: str
    kind: str
    operator: str
    bytes_before: int
    bytes_after: int
    reason: str = ""


class Report(list[Layer]):
    """The layers of a model; its text is a table."""

    def __str__(self) -> str:
        lines = ["layer  weight  operator  bytes before  after  why it is not quantized"]
        lines += [
            f"{layer.name}  {layer.kind}  {layer.operator}  {layer.bytes_before}  "
            f"{layer.bytes_after}  {layer.reason}".rstrip()
            for layer in self
        ]
        return "\n".join(lines)


def report(model: torch.nn.Module) -> Report:
    """Return the linear layers and embeddings of a model."""
    layers = Report()
    for name, module in model.named_modules():
        weight = getattr(module, "weight", None)
        if isinstance(module, torch.nn.Linear | torch.nn.Embedding) and isinstance(weight, Tensor):
            layers.append(_layer(name, module, weight))
    return layers


def _layer(name: str, module: torch.nn.Module, weight: Tensor) -> Layer:
    if is_plain(weight):
        size, kind = weight.nbytes, str(weight.dtype).removeprefix("torch.")
        return Layer(
            name, kind, "matmul", size, size, skip_reasons.get(module, "no config was applied")
        )
    kind = type(weight).__name__
    is_dynamic = getattr(weight, "act_quant_kwargs", None) is not None
    operators = _DYNAMIC_OPERATORS if is_dynamic and kind in _DYNAMIC_OPERATORS else _OPERATORS
    dtype = weight.dtype if weight.dtype.itemsize > 1 else torch.bfloat16
    before = weight.numel() * dtype.itemsize
    return Layer(name, kind, operators.get(kind, "torchao's"), before, _stored_bytes(weight))


def _stored_bytes(weight: Any) -> int:
    """Return the bytes of the tensors that a tensor of torchao is made of."""
    names, _ = weight.__tensor_flatten__()
    parts = [getattr(weight, name) for name in names]
    return sum(part.nbytes if is_plain(part) else _stored_bytes(part) for part in parts)
