"""IntxPackedTensor: a weight of one to seven bits a number, which lie dense.

torchao's configs of such weights give it on xpu in place of IntxUnpackedToInt8Tensor, which stores bytes.
Moved to the CPU, it computes there too.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torchao.utils import TorchAOBaseTensor

from .. import distributed
from ..operators.bit_packing import UNIT, pack_bits
from . import functions, views
from .packed_linear import dequantize_packed

_aten = torch.ops.aten
_FLOATS = (torch.float32, torch.float16, torch.bfloat16)


class IntxPackedTensor(TorchAOBaseTensor):
    """A matrix, its transpose or its row, whose elements are ``scale * (number - zero_point)``.

    Numbers are 0 to 2**bits - 1, and dense along the dimension ``packed_dim``, whose block size is the group;
    see bit_packing. Scales and zero points have the shape of the blocks. ``activation_quantization`` is that
    of IntxUnpackedToInt8Tensor.
    """

    tensor_data_names = ["qdata", "scale", "zero_point"]
    tensor_attribute_names = [
        "bits",
        "block_size",
        "packed_dim",
        "dtype",
        "activation_quantization",
    ]
    qdata: Tensor
    scale: Tensor
    zero_point: Tensor

    def __new__(
        cls,
        qdata: Tensor,
        scale: Tensor,
        zero_point: Tensor,
        bits: int,
        block_size: Any,
        packed_dim: int,
        dtype: torch.dtype,
        activation_quantization: str | None = None,
    ) -> Any:
        """Return a tensor of the elements' shape and type, without elements."""
        _check(qdata, scale, zero_point, bits, block_size, packed_dim)
        shape = list(qdata.shape)
        shape[packed_dim] = shape[packed_dim] // bits * UNIT
        strides = (1, shape[0]) if len(shape) == 2 and packed_dim == 0 else None
        return torch.Tensor._make_wrapper_subclass(
            cls, shape, strides, dtype=dtype, device=qdata.device, requires_grad=False
        )

    def __init__(
        self,
        qdata: Tensor,
        scale: Tensor,
        zero_point: Tensor,
        bits: int,
        block_size: Any,
        packed_dim: int,
        dtype: torch.dtype,
        activation_quantization: str | None = None,
    ) -> None:
        super().__init__()
        self.qdata, self.scale, self.zero_point = qdata, scale, zero_point
        self.bits, self.block_size, self.packed_dim = bits, tuple(block_size), packed_dim
        self.activation_quantization = activation_quantization

    def _quantization_type(self) -> str:
        shape = tuple(self.shape)
        return f"bits={self.bits}, block_size={self.block_size}, {shape=}, device={self.device}"

    def rows(self) -> tuple[Tensor, int, Tensor, Tensor]:
        """Return the numbers of a matrix or row as packed rows, their bits, scales and zero points."""
        parts = self.qdata, self.scale, self.zero_point
        if self.dim() == 1:
            data, scale, zero_point = (part.unsqueeze(0) for part in parts)
        elif self.packed_dim == 0:
            data, scale, zero_point = (part.t() for part in parts)
        else:
            data, scale, zero_point = parts
        return data, self.bits, scale, zero_point

    def dequantize(self, output_dtype: torch.dtype | None = None) -> Tensor:
        """Return the elements, in the type of the tensor or another."""
        elements = dequantize_packed(*self.rows(), output_dtype or self.dtype)
        if self.dim() == 1:
            return elements.squeeze(0)
        return elements.t() if self.packed_dim == 0 else elements

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """Move the tensor; give its elements, and the parts that have their type, another type of floats."""
        given = self._get_to_kwargs(*args, **kwargs)
        device, dtype = given["device"], given["dtype"]
        if dtype not in _FLOATS:
            raise TypeError(f"a packed tensor has elements of floats, not of {dtype}")

        def moved(part: Tensor) -> Tensor:
            return part.to(device, dtype if part.dtype == self.dtype else part.dtype)

        return IntxPackedTensor(
            moved(self.qdata),
            moved(self.scale),
            moved(self.zero_point),
            self.bits,
            self.block_size,
            self.packed_dim,
            dtype,
            self.activation_quantization,
        )


def from_numbers(
    numbers: Tensor,
    scale: Tensor,
    zero_point: Tensor,
    bits: int,
    dtype: torch.dtype,
    activation_quantization: str | None = None,
) -> IntxPackedTensor:
    """Return the tensor of numbers [N, K] of eight bits, whose parameters have the shape [N, K / group]."""
    return IntxPackedTensor(
        pack_bits(numbers, bits),
        scale,
        zero_point,
        bits,
        (1, numbers.shape[1] // max(scale.shape[1], 1)),
        1,
        dtype,
        activation_quantization,
    )


def pack(weight: Any, bits: int) -> IntxPackedTensor:
    """Return an IntxUnpackedToInt8Tensor [N, K] with groups along K, packed. K is a multiple of 8."""
    half = 1 << bits - 1
    parameters = (weight.scale, _shifted(weight.zero_point, half))
    how = weight.activation_quantization
    return from_numbers(weight.qdata + half, *parameters, bits, weight.dtype, how)


def _shifted(zero_point: Tensor, half: int) -> Tensor:
    """Return zero points of numbers without a sign: bytes, unless given ones are too large or floats."""
    if zero_point.is_floating_point():
        return zero_point.float() + half
    shifted = zero_point.to(torch.int16) + half
    as_bytes = shifted.to(torch.int8)
    return as_bytes if torch.equal(as_bytes.to(torch.int16), shifted) else shifted


def _check(
    qdata: Tensor, scale: Tensor, zero_point: Tensor, bits: int, block_size: Any, packed_dim: int
) -> None:
    """Raise ValueError unless the parts belong together."""
    if not 1 <= bits <= 7 or qdata.dtype != torch.uint8:
        raise ValueError(f"got {bits} bits of {qdata.dtype}, expected 1 to 7 of torch.uint8")
    shape = list(qdata.shape)
    if len(shape) != len(block_size) or not -1 < packed_dim < len(shape) < 3:
        raise ValueError(f"got {len(shape)} dimensions, {block_size=} and {packed_dim=}")
    if shape[packed_dim] % bits:
        raise ValueError(
            f"{shape[packed_dim]} bytes are no groups of {UNIT} numbers of {bits} bits"
        )
    shape[packed_dim] = shape[packed_dim] // bits * UNIT
    blocks = [size // block for size, block in zip(shape, block_size, strict=True)]
    for name, part in (("scale", scale), ("zero_point", zero_point)):
        if list(part.shape) != blocks or any(
            size % block for size, block in zip(shape, block_size, strict=True)
        ):
            raise ValueError(
                f"{name}: got shape {tuple(part.shape)} for elements of shape {tuple(shape)} "
                f"in blocks of {tuple(block_size)}"
            )
    if any(block != 1 for dim, block in enumerate(block_size) if dim != packed_dim):
        raise ValueError(
            f"blocks of {tuple(block_size)} are no groups along dimension {packed_dim}"
        )


IntxPackedTensor.implements_torch_function(F.linear)(functions.linear)
IntxPackedTensor.implements_torch_function(F.embedding)(functions.embedding)
for _overload, _handler in (
    (_aten.linear.default, functions.aten_linear),
    (_aten.mm.default, functions.mm),
    (_aten.addmm.default, functions.addmm),
    (_aten.embedding.default, functions.aten_embedding),
    (_aten.slice.Tensor, views.slice_),
    (_aten.select.int, views.select),
    (_aten.t.default, views.transpose),
    (_aten.transpose.int, views.transpose),
):
    IntxPackedTensor.implements(_overload)(_handler)

distributed.reject_in(IntxPackedTensor)
torch.serialization.add_safe_globals([IntxPackedTensor])
