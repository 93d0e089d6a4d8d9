"""Filling a model from an int4 checkpoint: which tensors belong to which linear layer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from . import tile_packed
from .awq import from_awq
from .compressed_tensors import from_compressed_tensors
from .files import Source, gptq_format_of, is_torchao, open_tensors
from .gptq import from_gptq
from .input_order import OrderedLinear, input_order
from .plain_tensors import PlainTensors

# The suffix that marks a quantized layer, the tensors that it has, and those that it may have.
PARTS = {
    "qweight": (("qweight", "qzeros", "scales"), ("g_idx",)),
    "weight_packed": (
        ("weight_packed", "weight_scale", "weight_shape"),
        ("weight_zero_point", "weight_g_idx"),
    ),
    "weight": (("weight",), ()),  # a tensor of torchao's
}


def load_checkpoint(
    model: torch.nn.Module,
    checkpoint: Source,
    *,
    checkpoint_format: str | None = None,
    strict: bool = True,
) -> list[str]:
    """Load an int4 checkpoint into a model of the same names; return the names of the quantized layers.

    The checkpoint is a state dict, a file of safetensors or of `torch.save`, or a folder of safetensors
    files. Layers of GPTQ, AWQ (`gemm`), compressed-tensors (`pack-quantized`) and torchao, also
    `tile_packed_to_4d` in CUDA's layout, become torchao's tensors on the device of the layer, and other
    tensors are copied. Layers on the device meta go to xpu. A layer with columns in the order of activations
    becomes an `OrderedLinear`.

    ``checkpoint_format`` is GPTQ's, `gptq` or `gptq_v2`; without it the `config.json` or
    `quantize_config.json` beside the file says it. With ``strict`` every tensor of the model must be in the
    checkpoint, and the other way round. On an error the model is as it was.
    """
    tensors = open_tensors(checkpoint)
    layers = {n: m for n, m in model.named_modules() if isinstance(m, torch.nn.Linear)}
    gptq_format = checkpoint_format or gptq_format_of(checkpoint)
    used: set[str] = set()
    made: dict[str, tuple[Any, Tensor | None]] = {}
    for name, marker in _quantized_layers(tensors):
        if name not in layers:
            raise ValueError(f"{name}: the checkpoint has an int4 weight, the model no nn.Linear")
        try:
            parts = _parts(tensors, name, marker)
            made[name] = _convert(layers[name], parts, gptq_format)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from error
        used |= {_join(name, part) for part in parts}
    others = PlainTensors(model, tensors, used, quantized=made, strict=strict)
    for name, (weight, order) in made.items():
        layers[name].weight = torch.nn.Parameter(weight, requires_grad=False)
        if order is not None:
            OrderedLinear.convert(layers[name], order.to(weight.device))
    others.load()
    return list(made)


def _quantized_layers(tensors: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the names of the layers that the checkpoint has quantized, and what marks them."""
    found = []
    for key in tensors:
        name, _, suffix = key.rpartition(".")
        if suffix in PARTS and (suffix != "weight" or is_torchao(tensors, key)):
            found.append((name, suffix))
    return found


def _parts(tensors: Mapping[str, Any], name: str, marker: str) -> dict[str, Any]:
    """Return the tensors of a layer by the last part of their names."""
    required, optional = PARTS[marker]
    missing = [part for part in required if _join(name, part) not in tensors]
    if missing:
        raise ValueError(f"the checkpoint has {marker}, but no {', '.join(missing)}: was it cut?")
    present = [part for part in (*required, *optional) if _join(name, part) in tensors]
    return {part: tensors[_join(name, part)] for part in present}


def _convert(
    layer: torch.nn.Linear, parts: dict[str, Any], gptq_format: str
) -> tuple[Any, Tensor | None]:
    """Return the weight of a layer and the order of its columns, if it is not their own."""
    device = "xpu" if layer.weight.is_meta else layer.weight.device
    parts = {part: tensor.to(device) for part, tensor in parts.items()}
    columns = layer.in_features
    order = None
    if "weight" in parts:
        weight = parts["weight"]
        weight = tile_packed.convert(weight) if tile_packed.is_tiled(weight) else weight
    elif "weight_packed" in parts:
        packed, scale, shape = (parts[part] for part in PARTS["weight_packed"][0])
        if "weight_g_idx" in parts:
            order = input_order(parts["weight_g_idx"], columns, scale.shape[-1])
        zero_point = parts.get("weight_zero_point")
        weight = from_compressed_tensors(packed, scale, shape, zero_point, order=order)
    else:
        qweight, qzeros, scales = (parts[part] for part in PARTS["qweight"][0])
        if qweight.shape[0] == columns:
            weight = from_awq(qweight, qzeros, scales)
        else:
            if "g_idx" in parts:
                order = input_order(parts["g_idx"], columns, scales.shape[0])
            weight = from_gptq(qweight, qzeros, scales, checkpoint_format=gptq_format, order=order)
    if weight.shape != layer.weight.shape:
        got, expected = tuple(weight.shape), tuple(layer.weight.shape)
        raise ValueError(f"the checkpoint has a weight {got}, the layer {expected}")
    return weight, order


def _join(name: str, part: str) -> str:
    return f"{name}.{part}" if name else part
