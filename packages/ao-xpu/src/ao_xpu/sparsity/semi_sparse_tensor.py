"""SemiSparseTensor: a weight of which two numbers of every four are stored, with their places in two bits.

It takes 9/16 of the memory of floats of 16 bits; products expand it in pieces.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torchao.utils import TorchAOBaseTensor

from .. import distributed
from ..errors import DoesNotFitError
from ..handlers import arguments_of_linear
from ..operators.bit_packing import pack_bits, unpack_bits

_aten = torch.ops.aten
# Numbers that are expanded at a time.
MAX_EXPANDED = 1 << 24


class SemiSparseTensor(TorchAOBaseTensor):
    """A matrix [N, K] of values [N, K / 2], whose places in their groups of four are packed [N, K / 8]."""

    tensor_data_names = ["values", "places"]
    tensor_attribute_names: list[str] = []
    values: Tensor
    places: Tensor

    def __new__(cls, values: Tensor, places: Tensor) -> Any:
        """Return a tensor of the elements' shape and type, without elements."""
        rows, columns = values.shape
        if places.shape != (rows, columns // 4) or places.dtype != torch.uint8:
            raise ValueError(
                f"places: got {places.dtype} of shape {tuple(places.shape)} for values of shape "
                f"{tuple(values.shape)}"
            )
        return torch.Tensor._make_wrapper_subclass(
            cls, (rows, 2 * columns), dtype=values.dtype, device=values.device, requires_grad=False
        )

    def __init__(self, values: Tensor, places: Tensor) -> None:
        super().__init__()
        self.values, self.places = values, places

    def _quantization_type(self) -> str:
        return f"shape={tuple(self.shape)}, device={self.device}"

    def dequantize(self, output_dtype: torch.dtype | None = None) -> Tensor:
        """Return the elements."""
        return _expanded(self.values, self.places).to(output_dtype or self.dtype)

    @classmethod
    def from_dense(cls, weight: Tensor) -> SemiSparseTensor:
        """Return a weight of at most two numbers other than zero in every four.

        Raises DoesNotFitError for others.
        """
        if weight.dim() != 2 or weight.shape[1] % 16:
            shape = tuple(weight.shape)
            raise DoesNotFitError(f"2:4 sparse weights have rows of multiples of 16, not {shape}")
        groups = weight.detach().unflatten(1, (-1, 4))
        is_stored = groups != 0
        if (is_stored.sum(-1) > 2).any():
            raise DoesNotFitError("more than two of four numbers are not zero: prune the weight")
        places = torch.sort(is_stored.byte(), dim=-1, descending=True, stable=True).indices[..., :2]
        values = groups.gather(-1, places).flatten(1)
        return cls(values, pack_bits(places.flatten(1).byte(), 2))


def _expanded(values: Tensor, places: Tensor) -> Tensor:
    pairs = values.unflatten(1, (-1, 2)).unsqueeze(-1)
    at = unpack_bits(places, 2).unflatten(1, (-1, 2)).unsqueeze(-1)
    is_here = at == torch.arange(4, dtype=torch.uint8, device=values.device)
    # No sum of both: that of a NaN and zeros is NaN in all four places.
    first, second = is_here.unbind(-2)
    zero = values.new_zeros(())
    others = torch.where(second, pairs[..., 1, :], zero)
    return torch.where(first, pairs[..., 0, :], others).flatten(1)


def _linear(func: Any, types: Any, args: Any, kwargs: Any) -> Tensor:
    input, weight, bias = arguments_of_linear(args, kwargs)
    rows = max(MAX_EXPANDED // max(weight.shape[1], 1), 1)
    parts = zip(weight.values.split(rows), weight.places.split(rows), strict=True)
    products = [F.linear(input, _expanded(*part).to(input.dtype)) for part in parts]
    product = products[0] if len(products) == 1 else torch.cat(products, -1)
    return product if bias is None else product + bias


SemiSparseTensor.implements_torch_function(F.linear)(_linear)
SemiSparseTensor.implements(_aten.linear.default)(_linear)

distributed.reject_in(SemiSparseTensor)
torch.serialization.add_safe_globals([SemiSparseTensor])
