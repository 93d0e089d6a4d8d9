"""The lowering of attention: a kernel whose columns are queries, and one that joins parts of few queries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch._inductor.kernel.flex.common import infer_dense_strides
from torch._inductor.lowering import empty_strided
from torch._inductor.utils import upcast_compute_type

from .node import FlexKernel
from .operands import Operands, hint, lists_of, tiles, value_of
from .problem import Problem
from .work import choose_parts, choose_work, padded


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
    columns = work.vectors * given.target.lanes
    groups = tiles(given.queries, given.block_queries, columns)
    parts = choose_parts(
        given.target,
        hint(given.batches) * hint(given.heads) * hint(groups),
        hint(given.keys) // work.rows,
    )
    problem.grid = (given.batches, given.heads, groups * parts)
    inputs = [given.query, given.key, given.value, *lists]
    results = {"out": out, "logsumexp": logsumexp, "maximum": maximum}
    stored = {"kParts": parts, **_results_of(kernel_options)}
    problem.constants |= stored
    if parts == 1:
        _add_results(problem, results)
        FlexKernel(problem, inputs, list(results.values()), given.captured)
        return out, logsumexp, maximum

    real = upcast_compute_type(given.dtype)
    sums = empty_strided([*size[:3], parts, given.e + 2], None, dtype=real, device=device)
    problem.add_tensor("stored", sums, writable=True, strides=False)
    FlexKernel(problem, inputs, [sums], given.captured)
    join = Problem("flex_join", given.new_reader())
    join.types_of = {name: problem.types_of[name] for name in ("Real", "Query")}
    join.constants = {"kE": given.e, **stored}
    join.add_tensor("stored", sums, strides=False)
    join.add_size("heads", given.heads)
    join.add_size("queries", given.queries)
    _add_results(join, results)
    join.grid, join.items = (given.batches, given.heads, given.queries), given.target.lanes
    FlexKernel(join, [sums], list(results.values()), ())
    return out, logsumexp, maximum


def _results_of(kernel_options: dict[str, Any]) -> dict[str, int]:
    return {
        "kHasLogsumexp": int(kernel_options.get("OUTPUT_LOGSUMEXP", True)),
        "kHasMaximum": int(kernel_options.get("OUTPUT_MAX", True)),
    }


def _add_results(problem: Problem, results: dict[str, Any]) -> None:
    for name, tensor in results.items():
        problem.add_tensor(name, tensor, writable=True, strides=name == "out")
