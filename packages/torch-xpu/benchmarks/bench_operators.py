"""Operators on 4 M to 64 M elements beside stock PyTorch's CPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from cpu_peer import case
from xpu_bench import Case, Mean

M = 2**20
DTYPES = ("f32", "bf16")


@dataclass(frozen=True)
class Operator:
    """A call of ``inputs`` tensors of a shape, without and, with ``backward``, with derivative."""

    name: str
    call: Callable
    shape: tuple[int, ...]
    inputs: int = 1
    backward: bool = False


def _functional():
    import torch.nn.functional

    return torch.nn.functional


def _torch():
    import torch

    return torch


LINE, ROWS = (16 * M,), (4096, 4096)

OPERATORS = (
    Operator("add 4M", lambda a, b: a + b, (4 * M,), 2),
    Operator("add 64M", lambda a, b: a + b, (64 * M,), 2),
    Operator("add row", lambda a, b: a + b[0], ROWS, 2),
    Operator("mul scalar", lambda a: a * 2.5, LINE),
    # Both, or the numbers of many calls would end as infinities and denormals.
    Operator("div and mul in place", lambda a, b: a.div_(b).mul_(b), LINE, 2),
    Operator("addcmul", lambda a, b, c: _torch().addcmul(a, b, c), LINE, 3),
    Operator("where", lambda a, b: _torch().where(a > b, a, b), LINE, 2),
    Operator("clamp", lambda a: a.clamp(-0.5, 0.5), LINE),
    Operator("exp", lambda a: a.exp(), LINE),
    Operator("sigmoid", lambda a: a.sigmoid(), LINE),
    Operator("tanh", lambda a: a.tanh(), LINE),
    Operator("gelu", lambda a: _functional().gelu(a), LINE),
    Operator("silu", lambda a: _functional().silu(a), LINE),
    Operator("relu", lambda a: a.relu(), LINE),
    Operator("gelu backward", lambda a: _functional().gelu(a), LINE, backward=True),
    Operator("sum", lambda a: a.sum(), (64 * M,)),
    Operator("sum rows", lambda a: a.sum(1), ROWS),
    Operator("sum columns", lambda a: a.sum(0), ROWS),
    Operator("mean of channels", lambda a: a.mean((0, 2, 3)), (32, 64, 112, 112)),
    Operator("max rows", lambda a: a.max(1), ROWS),
    Operator("argmax", lambda a: a.argmax(1), ROWS),
    Operator("var", lambda a: a.var(1), ROWS),
    Operator("norm", lambda a: a.norm(), LINE),
    Operator("cumsum", lambda a: a.cumsum(1), ROWS),
    Operator("softmax", lambda a: a.softmax(1), ROWS),
    Operator("softmax of 50257", lambda a: a.softmax(1), (256, 50257)),
    Operator("log softmax backward", lambda a: a.log_softmax(1), ROWS, backward=True),
    Operator("layer norm", lambda a: _functional().layer_norm(a, (768,)), (16384, 768)),
    Operator(
        "layer norm backward",
        lambda a: _functional().layer_norm(a, (768,)),
        (16384, 768),
        backward=True,
    ),
    Operator("rms norm", lambda a: _functional().rms_norm(a, (4096,)), ROWS),
    Operator("group norm", lambda a: _functional().group_norm(a, 8), (8, 64, 128, 128)),
    Operator(
        "batch norm",
        lambda a: _functional().batch_norm(a, None, None, training=True),
        (8, 64, 128, 128),
    ),
    Operator("cat", lambda a, b: _torch().cat((a, b), 1), ROWS, 2),
    Operator("transpose copy", lambda a: a.t().contiguous(), ROWS),
    Operator("permute copy", lambda a: a.permute(0, 2, 1, 3).contiguous(), (16, 1024, 16, 64)),
    Operator("sort", lambda a: a.sort(), (4 * M,)),
    Operator("sort rows", lambda a: a.sort(1), (4096, 1024)),
    Operator("top-k", lambda a: a.topk(50), (256, 32000)),
    Operator("dropout", lambda a: _functional().dropout(a, 0.1), LINE),
    Operator("max pool", lambda a: _functional().max_pool2d(a, 3, 2, 1), (8, 64, 112, 112)),
    Operator("average pool", lambda a: _functional().avg_pool2d(a, 2), (8, 64, 112, 112)),
    Operator(
        "bilinear",
        lambda a: _functional().interpolate(a, scale_factor=2, mode="bilinear"),
        (8, 32, 64, 64),
    ),
    Operator("masked fill", lambda a: a.masked_fill(a > 0, 0.0), LINE),
)

INDEX = {
    "index select": lambda a, _b, i, _j: a.index_select(0, i),
    "gather": lambda a, _b, _i, j: a.gather(1, j),
    "index": lambda a, _b, i, _j: a[i],
    "index add": lambda a, b, i, _j: a.index_add_(0, i, b),
    "embedding": lambda a, _b, i, _j: _functional().embedding(i, a),
    "scatter add": lambda a, b, _i, j: a.scatter_add_(1, j, b),
}


def _made(operator: Operator, dtype: str):
    def make(device: str):
        torch = _torch()
        of = {"f32": torch.float32, "bf16": torch.bfloat16}[dtype]
        return [
            torch.randn(operator.shape, dtype=of, device=device).requires_grad_(operator.backward)
            for _ in range(operator.inputs)
        ]

    return make


def _called(operator: Operator) -> Callable:
    if not operator.backward:
        return operator.call

    def forward_and_backward(*inputs):
        result = operator.call(*inputs)
        return _torch().autograd.grad(result, inputs, result.detach())

    return forward_and_backward


def _indexed(dtype: str):
    def make(device: str):
        torch = _torch()
        of = {"f32": torch.float32, "bf16": torch.bfloat16}[dtype]
        table, other = (torch.randn(ROWS, dtype=of, device=device) for _ in range(2))
        return table, other, torch.randperm(ROWS[0]), torch.rand(ROWS).argsort(1)

    return make


def cases() -> Iterator[Case | Mean]:
    for dtype in DTYPES:
        for operator in OPERATORS:
            yield case(f"op {operator.name} {dtype}", _made(operator, dtype), _called(operator))
        for name, call in INDEX.items():
            yield case(f"op {name} {dtype}", _indexed(dtype), call)
    yield Mean("operators, geometric mean", "op *", ">= 1.2")
