"""GgufTensor: a weight of a GGUF file, which products and look-ups read as it is stored.

An element is ``scale * (number - zero_point) + offset``, with parameters as ``low_bit_linear`` takes them.
The int4 classes of torchao have the type of their scales; scales of bf16 would round those of the file, f16.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torchao.utils import TorchAOBaseTensor

from .. import distributed
from ..linear_plans import Plan, planned_linear
from ..operators.low_bit_linear import dequantize_low_bit, low_bit_plan, numbers_in_byte


class GgufTensor(TorchAOBaseTensor):
    """A matrix [N, K] of low-bit numbers in groups along K. ``dtype`` is the type of its elements."""

    tensor_data_names = ["qdata", "scale"]
    optional_tensor_data_names = ["zero_point", "offset"]
    tensor_attribute_names = ["format", "dtype"]

    def __new__(
        cls,
        qdata: Tensor,
        scale: Tensor,
        format: str,
        dtype: torch.dtype,
        zero_point: Tensor | None = None,
        offset: Tensor | None = None,
    ) -> GgufTensor:
        """Return the tensor without its data, as torchao's classes do."""
        shape = (qdata.shape[0], qdata.shape[1] * numbers_in_byte(format))
        return torch.Tensor._make_wrapper_subclass(
            cls, shape, dtype=dtype, device=qdata.device, requires_grad=False
        )

    def __init__(
        self,
        qdata: Tensor,
        scale: Tensor,
        format: str,
        dtype: torch.dtype,
        zero_point: Tensor | None = None,
        offset: Tensor | None = None,
    ) -> None:
        super().__init__()
        self.qdata, self.scale, self.format = qdata, scale, format
        self.zero_point, self.offset = zero_point, offset

    def __repr__(self, *, tensor_contents: object = None) -> str:
        shape, device = tuple(self.shape), self.device
        return f"GgufTensor({self.format}, shape={shape}, dtype={self.dtype}, device={device})"

    @property
    def parts(self) -> tuple[Tensor, str, Tensor, Tensor | None, Tensor | None]:
        """The arguments of ``low_bit_linear``: numbers, format, parameters."""
        return self.qdata, self.format, self.scale, self.zero_point, self.offset

    def dequantize(self, output_dtype: torch.dtype | None = None) -> Tensor:
        """Return the elements, which are computed in f32."""
        return dequantize_low_bit(*self.parts, dtype=output_dtype or self.dtype)


_aten = torch.ops.aten


def _plan(weight: Any) -> Plan:
    _, *parameters = weight.parts
    return low_bit_plan(*parameters)


def _reject(func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    raise NotImplementedError("a product of two GgufTensors")


_linear = planned_linear(_plan)(_reject)
GgufTensor.implements_torch_function([F.linear])(_linear)
GgufTensor.implements([_aten.linear.default])(_linear)


@GgufTensor.implements([_aten.embedding.default])
def _embedding(func: Any, types: Any, args: Any, kwargs: Any) -> Tensor:
    weight, places = args[:2]
    rows = places.reshape(-1)
    data, format, *parameters = weight.parts
    scale, zero_point, offset = (
        p if p is None or p.dim() < 2 else p.index_select(0, rows) for p in parameters
    )
    numbers = data.index_select(0, rows)
    elements = dequantize_low_bit(numbers, format, scale, zero_point, offset, weight.dtype)
    return elements.view(*places.shape, weight.shape[1])


@GgufTensor.implements([_aten.cat.default])
def _cat(func: Any, types: Any, args: Any, kwargs: Any) -> GgufTensor:
    tensors, dim = args[0], args[1] if len(args) > 1 else 0
    first = tensors[0]
    if dim not in (0, -2) or any(_kind(t) != _kind(first) for t in tensors):
        raise ValueError("GGUF's tensors are concatenated along rows, and have one format")
    data, format, *parameters = first.parts
    data = torch.cat([t.qdata for t in tensors])
    scale, zero_point, offset = (
        p if p is None or p.dim() < 2 else torch.cat([t.parts[i] for t in tensors])
        for i, p in enumerate(parameters, 2)
    )
    return GgufTensor(data, scale, format, first.dtype, zero_point, offset)


def _kind(tensor: Any) -> tuple[Any, ...]:
    """Return what tensors to concatenate have in common."""
    if not isinstance(tensor, GgufTensor):
        return ()
    parameters = tensor.parts[2:]
    columns = [p if p is None else p.shape[1:] for p in parameters]
    return tensor.format, tensor.dtype, tensor.shape[1:], tensor.scale.dtype, columns


@GgufTensor.implements([_aten._to_copy.default])
def _to_copy(func: Any, types: Any, args: Any, kwargs: Any) -> GgufTensor:
    weight, (data, format, *parameters) = args[0], args[0].parts
    to = weight._get_to_kwargs(**kwargs)
    place = {"device": to["device"], "non_blocking": to["non_blocking"]}
    data, scale, zero_point, offset = (
        p if p is None else p.to(**place, copy=True) for p in (data, *parameters)
    )
    return GgufTensor(data, scale, format, to["dtype"], zero_point, offset)


distributed.reject_in(GgufTensor)
torch.serialization.add_safe_globals([GgufTensor])
