"""The results of captured work, copied out of the capture's memory after each replay."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import torch

# Copies begin as far from such an address as their originals, so that kernels may read vectors from both.
ALIGNMENT = 64


class Results:
    """Returns what the model would have returned: tensors of the same strides, which share memory likewise.

    ``inputs`` has None for each input that the capture has a copy of and writes results to.
    A result that shares an input's memory becomes a view of the caller's input. Others are copied, with the
    gaps between their elements; those that share memory are views of one copy.
    """

    def __init__(self, results: Sequence[Any], inputs: Sequence[Any]) -> None:
        # Each result is made of the inputs and, numbered after them, the copies of `blocks`.
        self.blocks: list[torch.Tensor] = []
        distinct = list({id(result): result for result in results}.values())
        numbers = {id(result): number for number, result in enumerate(distinct)}
        self.order = [numbers[id(result)] for result in results]
        self.makers: list[Callable[[Sequence[Any]], Any]] = [_Constant(x) for x in distinct]
        passed = {id(x): number for number, x in enumerate(inputs) if isinstance(x, torch.Tensor)}
        owners = {_memory(x): number for number, x in enumerate(inputs) if _is_strided(x)}
        groups: dict[int, list[int]] = {}
        for number, result in enumerate(distinct):
            if id(result) in passed:
                self.makers[number] = itemgetter(passed[id(result)])
            elif not _is_strided(result):
                continue
            elif (owner := owners.get(_memory(result))) is not None:
                self.makers[number] = _View(owner, _start(result) - _start(inputs[owner]), result)
            else:
                groups.setdefault(_memory(result), []).append(number)
        for members in groups.values():
            source = len(inputs) + len(self.blocks)
            tensors = [distinct[number] for number in members]
            if len(tensors) == 1 and _is_dense(tensors[0]):
                self.blocks.append(tensors[0])
                self.makers[members[0]] = itemgetter(source)
                continue
            block = _block(tensors)
            self.blocks.append(block)
            for number, tensor in zip(members, tensors, strict=True):
                self.makers[number] = _View(source, _start(tensor) - _start(block), tensor)

    def copies(self, inputs: Sequence[Any]) -> list[Any]:
        """Return the results of the last replay, given the caller's inputs."""
        sources = [*inputs, *[block.clone() for block in self.blocks]]
        made = [make(sources) for make in self.makers]
        return [made[number] for number in self.order]


@dataclass(frozen=True)
class _Constant:
    """Returns a result that is no tensor of strides: the same in every call, or a copy."""

    value: Any

    def __call__(self, sources: Sequence[Any]) -> Any:
        return self.value.clone() if isinstance(self.value, torch.Tensor) else self.value


@dataclass(frozen=True)
class _View:
    """Makes a tensor like ``like`` in the memory of a source, ``distance`` bytes after its first element."""

    source: int
    distance: int
    like: torch.Tensor

    def __call__(self, sources: Sequence[Any]) -> torch.Tensor:
        source, like = sources[self.source], self.like
        start = _start(source) + self.distance
        made = torch.empty(0, dtype=like.dtype, device=like.device)
        offset = start // like.itemsize
        made.set_(source.untyped_storage(), offset, like.shape, like.stride())
        torch._C._set_conj(made, like.is_conj())
        torch._C._set_neg(made, like.is_neg())
        return made


def _is_strided(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.layout == torch.strided


def _memory(tensor: torch.Tensor) -> int:
    """Return a number that tensors share if they share memory."""
    return tensor.untyped_storage()._cdata


def _start(tensor: torch.Tensor) -> int:
    """Return how many bytes of the tensor's storage are before its first element."""
    return tensor.storage_offset() * tensor.itemsize


def _is_dense(tensor: torch.Tensor) -> bool:
    """Return True if ``clone()`` keeps the strides."""
    return torch.ops.aten.is_non_overlapping_and_dense(tensor) and not (
        tensor.is_conj() or tensor.is_neg()
    )


def _block(tensors: Sequence[torch.Tensor]) -> torch.Tensor:
    """Return the bytes from the first to the last of tensors that share memory."""
    begin = min(map(_start, tensors)) // ALIGNMENT * ALIGNMENT
    end = max(_start(tensor) + _extent(tensor) for tensor in tensors)
    bytes_ = torch.empty(0, dtype=torch.uint8, device=tensors[0].device)
    return bytes_.set_(tensors[0].untyped_storage(), begin, (end - begin,), (1,))


def _extent(tensor: torch.Tensor) -> int:
    """Return the number of bytes from the first element to the end of the last one."""
    if not tensor.numel():
        return 0
    steps = zip(tensor.shape, tensor.stride(), strict=True)
    return (sum((size - 1) * stride for size, stride in steps) + 1) * tensor.itemsize
