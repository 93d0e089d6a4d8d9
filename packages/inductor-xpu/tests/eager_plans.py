"""Eager mode's plans of reductions: what reduce/plan.cpp and row_kernel.cpp compute, for any target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xpu_runtime.codegen.target import Target

_INNER_UNROLL = _OUTER_UNROLL = 4
_ROWS_UNROLL = 4
_MAX_GROUPS_OF_ROWS = 4096


@dataclass(frozen=True)
class Plan:
    """The kernel that reads the input: its groups, how often it reads, and loads of a lane at once.

    ``launches`` counts the kernel that combines parts, too.
    """

    groups: int
    sub_groups: int
    reads: int
    loads: int
    launches: int


def _ceil(a: int, b: int) -> int:
    return -(-a // b)


def _wanted_chunks(target: Target, tiles: int, work: int) -> int:
    min_work = 8 * target.division.max_tile_length * target.lanes
    return max(1, min(_ceil(target.tiles, tiles), work // min_work, 4096))


def _plan(target: Target, tiles: int, chunks: int, loads: int) -> Plan:
    groups = _ceil(tiles, target.sub_groups)
    return Plan(groups, groups * target.sub_groups, 1, loads, 1 + (chunks > 1))


def along_rows(target: Target, results: int, columns: int, rows: int = 1) -> Plan:
    """Return the plan of ``tile_inner``: each result is that of ``rows`` times ``columns`` elements."""
    step = target.lanes * _INNER_UNROLL
    wanted = _wanted_chunks(target, results, rows * columns)
    row_chunks = _ceil(rows, _ceil(rows, min(rows, wanted)))
    column_chunk = max(step, _ceil(_ceil(columns, _ceil(wanted, row_chunks)), step) * step)
    chunks = row_chunks * _ceil(columns, column_chunk)
    vectors = rows * _ceil(columns, target.lanes)
    per_tile = max(1, target.tile(vectors * results) // vectors) if chunks == 1 else 1
    return _plan(target, _ceil(results, per_tile) * chunks, chunks, _INNER_UNROLL)


def along_columns(target: Target, results: int, count: int) -> Plan:
    """Return the plan of ``tile_outer`` on a GPU."""
    unroll = _OUTER_UNROLL if results >= _OUTER_UNROLL * target.lanes else 1
    block = target.lanes * unroll
    blocks = _ceil(results, block)
    row_chunk = _ceil(count, _wanted_chunks(target, blocks, count * block))
    chunks = _ceil(count, row_chunk)
    vectors = row_chunk * unroll
    per_tile = min(max(1, target.tile(vectors * blocks * chunks) // vectors), blocks)
    return _plan(target, _ceil(blocks, per_tile) * chunks, chunks, unroll * _OUTER_UNROLL)


def passes_of_rows(target: Target, rows: int, columns: int, passes: int) -> Plan:
    """Return the plan of a row kernel, which a group reads in several passes."""
    items = min(_ceil(columns, target.lanes) * target.lanes, 256, target.max_items)
    chunk: Sequence[int] = range(0, rows, _ceil(rows, _MAX_GROUPS_OF_ROWS))
    return Plan(len(chunk), len(chunk) * items // target.lanes, passes, _ROWS_UNROLL, 1)
