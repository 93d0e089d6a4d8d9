"""Configs of weights of one to seven bits on xpu: what they give is packed to its true size."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from ..errors import DoesNotFitError
from ..int4.quantizers import PIECE
from ..operators.bit_packing import UNIT


def weight_only(stock: Any) -> Any:
    """Quantize by an IntxWeightOnlyConfig."""
    from . import packed_tensor  # noqa: F401 - files of packed weights are loaded from now on

    def quantize(weight: Tensor, config: Any, **custom: Any) -> Any:
        bits = _bits(weight, config, config.granularity)
        if bits is None:
            return stock(weight, config, **custom)
        return _packed(lambda rows: stock(rows, config, **custom), weight, config, bits, custom)

    return quantize


def dynamic_activation(stock: Any) -> Any:
    """Quantize by an Int8DynamicActivationIntxWeightConfig, and return the bias as it is."""

    def quantize(weight: Tensor, bias: Any, config: Any, **custom: Any) -> Any:
        bits = _bits(weight, config, config.weight_granularity)
        if bits is None:
            return stock(weight, bias, config, **custom)

        def of_rows(rows: Tensor) -> Any:
            return stock(rows, None, config, **custom)[0]

        return _packed(of_rows, weight, config, bits, custom), bias

    return quantize


def _bits(weight: Tensor, config: Any, granularity: Any) -> int | None:
    """Return how many bits the packed numbers of a weight will have; None if it is not packed."""
    from torchao.quantization import PerGroup
    from torchao.quantization.quantize_.workflows import IntxPackingFormat

    is_unpacked = config.intx_packing_format == IntxPackingFormat.UNPACKED_TO_INT8
    if weight.device.type != "xpu" or weight.dim() != 2 or not is_unpacked:
        return None
    if hasattr(weight, "qdata"):
        raise ValueError(f"the weight is quantized already: {type(weight).__name__}")
    if isinstance(granularity, PerGroup):
        require_groups(weight, granularity.group_size)
    bits = int(str(config.weight_dtype).removeprefix("torch.int"))
    return bits if bits < 8 and weight.shape[1] % UNIT == 0 else None


def require_groups(weight: Tensor, group: int) -> None:
    """Raise DoesNotFitError unless rows are whole groups."""
    if weight.shape[1] % group:
        raise DoesNotFitError(f"rows of {weight.shape[1]} elements are no groups of {group}")


def _packed(
    quantize: Callable[[Tensor], Any], weight: Tensor, config: Any, bits: int, custom: Any
) -> Any:
    """Quantize and pack some rows at a time, so that what is not packed is small beside a large weight.

    HQQ stops when all rows are good, and given scales belong to all rows: these are quantized at once.
    """
    from torchao.quantization.quantize_.workflows import IntxChooseQParamsAlgorithm

    from .packed_tensor import pack

    weight = weight.detach()
    is_affine = config.intx_choose_qparams_algorithm == IntxChooseQParamsAlgorithm.AFFINE
    has_parameters = any(part is not None for part in custom.values())
    by_pieces = is_affine and not has_parameters
    count = max(1, PIECE // max(weight.shape[1], 1)) if by_pieces else max(1, weight.shape[0])
    return join_rows([pack(quantize(rows), bits) for rows in weight.split(count)])


def join_rows(pieces: list[Any]) -> Any:
    """Return packed rows as one tensor."""
    if len(pieces) == 1:
        return pieces[0]
    names, attributes = pieces[0].__tensor_flatten__()
    parts = {name: torch.cat([getattr(piece, name) for piece in pieces]) for name in names}
    return type(pieces[0]).__tensor_unflatten__(parts, attributes, None, None)
