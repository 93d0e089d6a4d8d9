"""The lowering of the gradients: a kernel whose columns are queries, and one whose columns are keys."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._inductor import ir
from torch._inductor.kernel.flex.common import infer_dense_strides
from torch._inductor.kernel.flex.flex_attention import validate_joint_graph
from torch._inductor.lowering import empty_strided, lowerings, to_dtype
from torch._inductor.virtualized import V

from .captured import CapturedGradient
from .functions import FunctionReader
from .node import FlexKernel
from .operands import Operands, hint, in_memory, lists_of, realized, tiles, value_of
from .work import choose_work, padded

aten = torch.ops.aten


def lower_backward(
    query: Any,
    key: Any,
    value: Any,
    out: Any,
    logsumexp: Any,
    grad_out: Any,
    grad_logsumexp: Any,
    score_graph: Any,
    joint_graph: Any,
    block_mask: Sequence[Any],
    scale: Any,
    kernel_options: dict[str, Any],
    score_captured: Sequence[Any],
    mask_captured: Sequence[Any],
) -> Any:
    """Return the gradients of queries, keys, values and the tensors that the score function captures."""
    if not query.get_dtype() == key.get_dtype() == value.get_dtype():
        raise ValueError(
            "the gradient of flex attention needs queries, keys and values of one dtype"
        )
    given = Operands(query, key, value, block_mask, scale, score_captured, mask_captured)
    if grad_out is None:
        grad_out = lowerings[aten.zeros_like](out)
    grad_out = in_memory(grad_out)
    (logsumexp,) = realized([ir.ExternKernel.require_contiguous(logsumexp)])
    delta = _delta(given, out, grad_out, grad_logsumexp)

    joint_graph.graph_module.graph.eliminate_dead_code()
    validate_joint_graph(joint_graph.graph_module.graph)
    score = given.outputs_of(score_graph, given.scored, given.score_captured)
    mask = given.outputs_of(given.blocks.mask, given.shown, given.mask_captured)
    inputs = {**given.scored, "grad": given.dtype}
    joint, *rest = given.outputs_of(joint_graph, inputs, given.score_captured)
    # Behind those of the other arguments, which have none.
    gradients = [CapturedGradient.of(buffer, given) for buffer in rest[len(inputs) - 2 :]]

    def reader_of(body: Callable[[FunctionReader], Any]) -> FunctionReader:
        reader = given.new_reader()
        with reader:
            reader.read("score", given.scored, given.dtype, value_of(score))
            reader.read("mask", given.shown, torch.bool, value_of(mask))
            reader.read("gradient", inputs, given.dtype, lambda: body(reader))
        return reader

    def with_captured(reader: FunctionReader) -> Any:
        for gradient in gradients:
            if gradient is not None:
                reader.add(gradient.store)
        return value_of(joint)()

    rows = (grad_out, logsumexp, delta)
    added = [gradient.total for gradient in gradients if gradient is not None]
    grad_query = _of_queries(given, reader_of(with_captured), rows, added)
    grad_key, grad_value = _of_keys(given, reader_of(lambda _: value_of(joint)()), rows)
    if not V.graph.sizevars.statically_known_equals(given.batches, given.key.get_size()[0]):
        grad_key, grad_value = (
            lowerings[aten.sum](x, axis=0, keepdims=True) for x in (grad_key, grad_value)
        )
    captured = tuple(
        None if gradient is None else to_dtype(gradient.total, tensor.get_dtype())
        for gradient, tensor in zip(gradients, score_captured, strict=True)
    )
    return grad_query, grad_key, grad_value, captured


def _delta(given: Operands, out: Any, grad_out: Any, grad_logsumexp: Any) -> Any:
    """Return what the gradient of each weight is less by: of a row, f32 or f64."""
    real = torch.float64 if given.dtype == torch.float64 else torch.float32
    products = lowerings[aten.mul](to_dtype(out, real), to_dtype(grad_out, real))
    delta = lowerings[aten.sum](products, axis=-1)
    if grad_logsumexp is not None:
        # That of the operator is in units of log(2).
        units = lowerings[aten.mul](to_dtype(grad_logsumexp, real), 1 / math.log(2))
        delta = lowerings[aten.sub](delta, units)
    (delta,) = realized([ir.ExternKernel.require_contiguous(delta)])
    return delta


def _like(tensor: Any, size: Sequence[Any]) -> Any:
    strides = infer_dense_strides(size, tensor.get_stride())
    return empty_strided(size, strides, dtype=tensor.get_dtype(), device=tensor.get_device())


def _of_queries(
    given: Operands, reader: FunctionReader, rows: Sequence[Any], added: Sequence[Any]
) -> Any:
    """Return the gradient of queries; the kernel adds to those of captured tensors, too."""
    blocks, bytes, d, e = given.blocks, given.real.size, given.d, given.e
    grad_query = _like(given.query, given.query.get_size())
    work = choose_work(
        given.target,
        columns=min(given.block_queries, hint(given.queries)),
        rows=min(given.block_keys, hint(given.keys)),
        columns_bytes=bytes * (d + e + padded(d)),
        rows_bytes=bytes * (padded(d) + padded(e)),
        bytes=2 * bytes,
    )
    lists = lists_of(
        blocks.kv_num_blocks,
        blocks.kv_indices,
        blocks.full_kv_num_blocks,
        blocks.full_kv_indices,
    )
    problem = given.new_problem("flex_backward_queries", reader, work, lists)
    _add_rows(problem, rows)
    problem.add_tensor("grad_q", grad_query, writable=True)
    columns = work.vectors * given.target.lanes
    groups = tiles(given.queries, given.block_queries, columns)
    problem.grid = (given.batches, given.heads, groups)
    inputs = [given.query, given.key, given.value, *lists, *rows]
    FlexKernel(problem, inputs, [grad_query], given.captured, added)
    return grad_query


def _of_keys(given: Operands, reader: FunctionReader, rows: Sequence[Any]) -> tuple[Any, Any]:
    """Return the gradients of keys and values, for each batch of queries."""
    blocks, bytes, d, e = given.blocks, given.real.size, given.d, given.e
    outer = [given.batches, given.key_heads, given.keys]
    grad_key, grad_value = _like(given.key, [*outer, d]), _like(given.value, [*outer, e])
    work = choose_work(
        given.target,
        columns=min(given.block_keys, hint(given.keys)),
        rows=min(given.block_queries, hint(given.queries)),
        columns_bytes=bytes * (d + e + padded(d) + padded(e)),
        rows_bytes=bytes * (padded(d) + padded(e)),
        bytes=2 * bytes,
    )
    lists = lists_of(
        blocks.q_num_blocks, blocks.q_indices, blocks.full_q_num_blocks, blocks.full_q_indices
    )
    problem = given.new_problem("flex_backward_keys", reader, work, lists)
    _add_rows(problem, rows)
    problem.add_tensor("grad_k", grad_key, writable=True)
    problem.add_tensor("grad_v", grad_value, writable=True)
    columns = work.vectors * given.target.lanes
    groups = tiles(given.keys, given.block_keys, columns)
    problem.grid = (given.batches, given.key_heads, groups)
    inputs = [given.query, given.key, given.value, *lists, *rows]
    FlexKernel(problem, inputs, [grad_key, grad_value], given.captured)
    return grad_key, grad_value


def _add_rows(problem: Any, rows: Sequence[Any]) -> None:
    grad_out, logsumexp, delta = rows
    problem.add_tensor("grad", grad_out)
    problem.add_tensor("logsumexp", logsumexp, strides=False)
    problem.add_tensor("delta", delta, strides=False)
