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
from .input_order import OrderedLinear, input_order, require_order
from .plain_tensors import PlainTensors

# The suffix that marks a quantized layer, the tensors that it has, and those that it may have.
PARTS = {
    "qweight": (("qweight", "qzeros", "scales"), ("g_idx",)),
    "weight_packed": (
        ("weight_packed", "weight_scale", "weight_shape"),
        ("weight_zero_point", "weight_g_idx"),
    ),
    "weight": (("weight",), ("input_order",)),  # a tensor of torchao's
}
# What means nothing without the tensor that marks a quantized layer.
DEPENDENT = {part for parts in PARTS.values() for part in sum(parts, ())} - PARTS.keys()


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
    becomes an `OrderedLinear`, and another is no such layer any more. Layers may be quantized already.

    ``checkpoint_format`` is GPTQ's, `gptq` or `gptq_v2`; without it the `config.json` or
    `quantize_config.json` beside the file says it. With ``strict`` every tensor of the model must be in the
    checkpoint, and the other way round. On an error the model is as it was.
    """
    tensors = open_tensors(checkpoint)
    modules = model.named_modules(remove_duplicate=False)
    layers = {name: m for name, m in modules if isinstance(m, torch.nn.Linear)}
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
    replaced = {layers[name] for name in made}
    others = {name: layer for name, layer in layers.items() if layer not in replaced}
    _check_others(others, tensors)
    names = layers.keys() - others.keys()
    keys = {_join(name, part) for name in names for part in ("weight", "input_order")}
    plain = PlainTensors(model, tensors, used, replaced=keys, strict=strict)
    # Nothing is rejected from here on.
    plain.load()
    for name, (weight, order) in made.items():
        layers[name].weight = torch.nn.Parameter(weight, requires_grad=False)
        OrderedLinear.convert(layers[name], order)
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
    parts = {part: tensors[_join(name, part)] for part in present}
    for part, tensor in parts.items():
        if not isinstance(tensor, Tensor):
            raise ValueError(f"{part}: got {type(tensor).__name__}, expected a tensor")
    return parts


def _check_others(layers: Mapping[str, torch.nn.Linear], tensors: Mapping[str, Any]) -> None:
    """Raise ValueError if the checkpoint has parts of a quantized weight of these layers, not the whole."""
    for name, layer in layers.items():
        own = layer._parameters.keys() | layer._buffers.keys()
        found = [part for part in sorted(DEPENDENT - own) if _join(name, part) in tensors]
        if found:
            raise ValueError(
                f"{name}: the checkpoint has {', '.join(found)}, but not what belongs to it: was "
                "it cut, or is its format unknown?"
            )
        if isinstance(layer, OrderedLinear):
            pair = [part for part in ("weight", "input_order") if _join(name, part) in tensors]
            if len(pair) == 1:
                raise ValueError(
                    f"{name}: the checkpoint has {pair[0]} alone, but columns of the layer have "
                    "an input_order: load it into a model that is not quantized"
                )
            if pair:
                require_order(tensors[_join(name, "input_order")], layer.in_features)


def _convert(
    layer: torch.nn.Linear, parts: dict[str, Any], gptq_format: str
) -> tuple[Any, Tensor | None]:
    """Return the weight of a layer and the order of its columns, if it is not their own."""
    if layer._parameters.get("weight") is None:
        raise ValueError("the layer computes its weight, so that it cannot be replaced")
    device = torch.device("xpu") if layer.weight.is_meta else layer.weight.device
    given, parts = parts, {part: tensor.to(device) for part, tensor in parts.items()}
    columns = layer.in_features
    order = None
    if "weight" in parts:
        weight = parts["weight"]
        if given["weight"].device.type == device.type:  # a model of its own shares no memory
            weight = weight.clone()
        weight = tile_packed.convert(weight) if tile_packed.is_tiled(weight) else weight
        if "input_order" in parts:
            order = require_order(parts["input_order"], columns)
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
    OrderedLinear.require_convertible(layer, order)
    return weight, order if order is None else order.to(device)


def _join(name: str, part: str) -> str:
    return f"{name}.{part}" if name else part
