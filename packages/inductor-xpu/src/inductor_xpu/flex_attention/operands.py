"""The arguments of flex attention as operands of kernels: tensors, sizes, the lists of a mask's blocks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import sympy
import torch
from torch._inductor import ir
from torch._inductor.kernel.flex.common import (
    build_subgraph_buffer,
    contiguous_last_dim,
    create_placeholder,
    freeze_irnodes,
    maybe_realize,
)
from torch._inductor.lowering import to_dtype
from torch._inductor.utils import upcast_compute_type
from torch._inductor.virtualized import V
from torch.utils._sympy.functions import CeilDiv, FloorDiv
from xpu_runtime.codegen.elements import Element

from ..reader.targets import target_of
from ..reader.values import element_of
from .functions import POSITIONS, FunctionReader
from .problem import Problem, stored
from .work import ROWS, Work


@dataclass(frozen=True)
class Blocks:
    """A BlockMask as the operator gets it; lists are None where there are none."""

    queries: Any
    keys: Any
    kv_num_blocks: Any
    kv_indices: Any
    full_kv_num_blocks: Any
    full_kv_indices: Any
    q_num_blocks: Any
    q_indices: Any
    full_q_num_blocks: Any
    full_q_indices: Any
    dq_write_order: Any
    dq_write_order_full: Any
    dq_kv_order: Any
    dq_kv_order_spt: Any
    block_queries: Any
    block_keys: Any
    mask: Any


class Operands:
    """What the kernels of a forward and a backward have in common."""

    def __init__(
        self,
        query: Any,
        key: Any,
        value: Any,
        block_mask: Sequence[Any],
        scale: Any,
        score_captured: Sequence[Any],
        mask_captured: Sequence[Any],
    ) -> None:
        sizevars = V.graph.sizevars
        self.query, self.key, self.value = map(in_memory, (query, key, value))
        self.blocks, self.scale = Blocks(*block_mask), scale
        self.score_captured = realized(score_captured)
        self.mask_captured = realized(mask_captured)
        self.device, self.dtype = self.query.get_device(), self.query.get_dtype()
        self.target = target_of(self.device)
        self.batches, self.heads, self.queries, d = self.query.get_size()
        _, self.key_heads, self.keys, e = self.value.get_size()
        self.d, self.e = sizevars.guard_int(d), sizevars.guard_int(e)
        self.block_queries = sizevars.guard_int(self.blocks.block_queries)
        self.block_keys = sizevars.guard_int(self.blocks.block_keys)

    @property
    def real(self) -> Element:
        """The element type in which kernels compute."""
        return element_of(upcast_compute_type(self.dtype))

    @property
    def captured(self) -> list[Any]:
        """The tensors that functions capture."""
        every = (*self.score_captured, *self.mask_captured)
        return [x for x in every if isinstance(x, ir.IRNode)]

    @property
    def scored(self) -> dict[str, torch.dtype]:
        """The arguments of a score function."""
        return {"score": self.dtype, **dict.fromkeys(POSITIONS, torch.int32)}

    @property
    def shown(self) -> dict[str, torch.dtype]:
        """The arguments of a mask function."""
        return dict.fromkeys(POSITIONS, torch.int32)

    def outputs_of(
        self, graph: Any, inputs: dict[str, torch.dtype], captured: Sequence[Any]
    ) -> Any:
        """Return the buffers that a function's graph makes of placeholders and captured tensors."""
        placeholders = [create_placeholder(*item, self.device) for item in inputs.items()]
        buffers = build_subgraph_buffer([*placeholders, *captured], graph)
        freeze_irnodes(buffers)
        return buffers

    def new_reader(self) -> FunctionReader:
        """Return a reader of a kernel's functions."""
        ends = (self.batches, self.heads, self.queries, self.keys)
        return FunctionReader(self.device, ends, self.captured)

    def new_problem(
        self, entry: str, reader: FunctionReader, work: Work, lists: Sequence[Any]
    ) -> Problem:
        """Return a kernel's problem with the operands that all kernels have."""
        problem = Problem(entry, reader)
        problem.types_of = {
            "Real": self.real.math,
            "Query": stored(self.dtype),
            "Key": stored(self.key.get_dtype()),
            "Value": stored(self.value.get_dtype()),
        }
        problem.constants = {
            "kD": self.d,
            "kE": self.e,
            "kRows": ROWS,
            "kVectors": work.vectors,
            "kTeams": work.teams,
            "kTile": work.rows,
            "kBlockQueries": self.block_queries,
            "kBlockKeys": self.block_keys,
            "kHasFull": int(len(lists) > 2),
        }
        problem.items = work.teams * self.target.lanes
        for name, tensor in (("q", self.query), ("k", self.key), ("v", self.value)):
            problem.add_tensor(name, tensor)
        problem.add_blocks("partial", *lists[:2])
        if len(lists) > 2:
            problem.add_blocks("full", *lists[2:])
        problem.add_size("heads", self.heads)
        problem.add_size("queries", self.queries)
        problem.add_size("keys", self.keys)
        problem.add_size("shared", FloorDiv(self.heads, self.key_heads))
        scale = reader.symbols.scalar(sympy.sympify(self.scale), self.real)
        problem.add_value(f"{self.real.math} scale", scale)
        return problem


def lists_of(count: Any, index: Any, full_count: Any, full_index: Any) -> list[Any]:
    """Return the lists of a mask's blocks in memory, those of blocks without a mask only if there are any."""
    lists = [count, index]
    if full_count is not None:
        lists += [full_count, full_index]
    return realized([to_dtype(x, torch.int32) for x in lists])


def realized(tensors: Sequence[Any]) -> list[Any]:
    """Return tensors in memory; numbers stay."""
    inputs = list(maybe_realize(list(tensors)))
    freeze_irnodes(inputs)
    return inputs


def in_memory(tensor: Any) -> Any:
    """Return a tensor in memory, whose rows are contiguous."""
    (tensor,) = realized([tensor])
    (tensor,) = realized([contiguous_last_dim(tensor)])
    return tensor


def value_of(buffer: Any) -> Callable[[], Any]:
    """Return what computes the value of a function's buffer."""
    return lambda: buffer.data.make_loader()(())


def hint(size: Any) -> int:
    """Return what a size probably is."""
    return int(V.graph.sizevars.optimization_hint(size, fallback=8192))


def tiles(length: Any, block: int, columns: int) -> Any:
    """Return the number of tiles of columns, none of which is in two blocks."""
    if block % columns == 0:
        return CeilDiv(length, columns)
    return CeilDiv(length, block) * -(-block // columns)
