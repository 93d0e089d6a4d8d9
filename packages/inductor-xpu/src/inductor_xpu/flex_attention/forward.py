"""The lowering of attention: one kernel, whose columns are queries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch._inductor.kernel.flex.common import infer_dense_strides
from torch._inductor.lowering import empty_strided

from .node import FlexKernel
from .operands import Operands, hint, lists_of, tiles, value_of
from .work import choose_work, padded


def lower_forward(
    query: Any,
    key: Any,
    value: Any,
    score_graph: Any,
    block_mask: Sequence[Any],
    scale: Any,
    kernel_options: dict[str, Any],
    score_captured: Sequence[Any],
    mask_captured: Sequence[Any],
) -> Any:
    """Return the result, and logsumexp and largest scores in units of log(2)."""
    given = Operands(query, key, value, block_mask, scale, score_captured, mask_captured)
    blocks, device = given.blocks, given.device
    score = given.outputs_of(score_graph, given.scored, given.score_captured)
    mask = given.outputs_of(blocks.mask, given.shown, given.mask_captured)
    reader = given.new_reader()
    with reader:
        reader.read("score", given.scored, given.dtype, value_of(score))
        reader.read("mask", given.shown, torch.bool, value_of(mask))

    size = [given.batches, given.heads, given.queries, given.e]
    strides = infer_dense_strides(size, given.query.get_stride())
    out = empty_strided(size, strides, dtype=given.dtype, device=device)
    logsumexp, maximum = (
        empty_strided(size[:3], None, dtype=torch.float32, device=device) for _ in range(2)
    )

    bytes = given.real.size
    work = choose_work(
        given.target,
        columns=min(given.block_queries, hint(given.queries)),
        rows=min(given.block_keys, hint(given.keys)),
        columns_bytes=bytes * (given.d + padded(given.e) + 2),
        rows_bytes=bytes * (padded(given.d) + padded(given.e)),
        bytes=bytes,
    )
    lists = lists_of(
        blocks.kv_num_blocks,
        blocks.kv_indices,
        blocks.full_kv_num_blocks,
        blocks.full_kv_indices,
    )
    problem = given.new_problem("flex_forward", reader, work, lists)
    problem.constants["kHasLogsumexp"] = int(kernel_options.get("OUTPUT_LOGSUMEXP", True))
    problem.constants["kHasMaximum"] = int(kernel_options.get("OUTPUT_MAX", True))
    problem.add_tensor("out", out, writable=True)
    problem.add_tensor("logsumexp", logsumexp, writable=True, strides=False)
    problem.add_tensor("maximum", maximum, writable=True, strides=False)
    columns = work.vectors * given.target.lanes
    groups = tiles(given.queries, given.block_queries, columns)
    problem.grid = (given.batches, given.heads, groups)
    inputs = [given.query, given.key, given.value, *lists]
    FlexKernel(problem, inputs, [out, logsumexp, maximum], given.captured)
    return out, logsumexp, maximum
