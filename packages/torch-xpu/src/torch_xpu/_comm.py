"""Copies of tensors over devices, as ``torch.nn.DataParallel`` and its kin ask for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import torch
from torch import Tensor


def _device(index: int | None) -> torch.device:
    """-1 is the CPU, None the current device."""
    if index is None:
        return torch.device("xpu", torch.xpu.current_device())
    return torch.device("cpu") if index < 0 else torch.device("xpu", index)


def _each(streams: Sequence[torch.Stream | None] | None, count: int) -> list[Any]:
    """Contexts: of each stream, or nothing."""
    return [stream or nullcontext() for stream in streams or [None] * count]


def broadcast(tensor: Tensor, devices: Sequence[int]) -> list[Tensor]:
    """Return the tensor on each device; on its own it is not copied."""
    return [tensor.to(_device(index), non_blocking=True) for index in devices]


def broadcast_out(tensor: Tensor, out: Sequence[Tensor]) -> list[Tensor]:
    """Copy the tensor into others of its shape."""
    for i, to in enumerate(out):
        if to.shape != tensor.shape:
            raise RuntimeError(
                f"broadcast: expected all outputs of shape {tuple(tensor.shape)}, but output {i} has "
                f"{tuple(to.shape)}"
            )
        if to is not tensor:
            to.copy_(tensor, non_blocking=True)
    return list(out)


def broadcast_coalesced(
    tensors: Sequence[Tensor], devices: Sequence[int], buffer_size: int
) -> list[list[Tensor]]:
    """Return all tensors on each device; on the first they are already."""
    for i, tensor in enumerate(tensors):
        if tensor.device != _device(devices[0]):
            raise RuntimeError(
                f"broadcast_coalesced: expected all tensors on {_device(devices[0])}, the first device, but "
                f"tensor {i} is on {tensor.device}"
            )
    return [list(tensors)] + [
        [t.to(_device(i), non_blocking=True) for t in tensors] for i in devices[1:]
    ]


def scatter(
    tensor: Tensor,
    devices: Sequence[int],
    chunk_sizes: Sequence[int] | None,
    dim: int,
    streams: Sequence[torch.Stream | None] | None,
) -> list[Tensor]:
    """Return parts of the tensor along a dimension, one for each device."""
    if chunk_sizes is None:
        chunks = tensor.chunk(len(devices), dim)
    elif len(chunk_sizes) != len(devices):
        raise RuntimeError(f"scatter: {len(chunk_sizes)} chunk_sizes for {len(devices)} devices")
    else:
        chunks = tensor.split(list(chunk_sizes), dim)
    outputs = []
    for chunk, index, context in zip(chunks, devices, _each(streams, len(devices)), strict=False):
        with context:
            outputs.append(chunk.contiguous().to(_device(index), non_blocking=True))
    return outputs


def scatter_out(
    tensor: Tensor,
    out: Sequence[Tensor],
    dim: int,
    streams: Sequence[torch.Stream | None] | None,
) -> list[Tensor]:
    """Copy parts of the tensor along a dimension, each as long as its output is."""
    chunks = tensor.split([to.size(dim) for to in out], dim)
    for chunk, to, context in zip(chunks, out, _each(streams, len(out)), strict=True):
        with context:
            to.copy_(chunk, non_blocking=True)
    return list(out)


def gather(tensors: Sequence[Tensor], dim: int, destination: int | None) -> Tensor:
    """Return tensors of several devices joined to one on the destination."""
    device = _device(destination)
    # To the host without a wait would be before the copies ended.
    here = [t.to(device, non_blocking=device.type != "cpu") for t in tensors]
    return torch.cat(here, dim)


def gather_out(tensors: Sequence[Tensor], out: Tensor, dim: int) -> Tensor:
    """Join the tensors in ``out``, whose shape must fit; a copy to the host is waited for."""
    expected = list(tensors[0].shape)
    expected[dim] = sum(t.size(dim) for t in tensors)
    if list(out.shape) != expected:
        raise RuntimeError(f"gather: expected an output of shape {expected}, got {list(out.shape)}")
    for t, part in zip(tensors, out.split([t.size(dim) for t in tensors], dim), strict=True):
        part.copy_(t, non_blocking=out.device.type != "cpu")
    return out


NAMES: dict[str, Callable[..., Any]] = {
    "_broadcast": broadcast,
    "_broadcast_out": broadcast_out,
    "_broadcast_coalesced": broadcast_coalesced,
    "_scatter": scatter,
    "_scatter_out": scatter_out,
    "_gather": gather,
    "_gather_out": gather_out,
}
