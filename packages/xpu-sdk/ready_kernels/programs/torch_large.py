"""Tensors larger than a CPU's caches: their kernels store past them."""

from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

ROWS, WIDTH, CLASSES = 2048, 1024, 8192

OPTIMIZERS = (torch.optim.AdamW, torch.optim.Adam, torch.optim.SGD)
BINARY = (torch.add, torch.sub, torch.mul, torch.div)
UNARY = (
    *(torch.exp, torch.sqrt, torch.rsqrt, torch.relu, torch.sigmoid, torch.tanh, torch.neg),
    *(torch.abs, torch.square, torch.log, torch.sin, F.gelu, F.silu),
)
ALONG = (torch.softmax, torch.log_softmax, torch.sum, torch.mean, torch.argmax)


def training(dtype: torch.dtype, kind: type[torch.optim.Optimizer]) -> None:
    """Train a network whose weights, activations and logits are large."""
    net = nn.Sequential(
        nn.Embedding(CLASSES, WIDTH),
        nn.Linear(WIDTH, WIDTH),
        nn.LayerNorm(WIDTH),
        nn.GELU(approximate="tanh"),
        nn.Linear(WIDTH, WIDTH),
        nn.SiLU(),
        nn.Dropout(0.1),
        nn.Linear(WIDTH, CLASSES, bias=False),
    ).to("xpu", dtype)
    words = torch.randint(CLASSES, (ROWS,)).to("xpu")
    optimizer = kind(net.parameters(), lr=1e-3)
    for _ in range(2):
        optimizer.zero_grad()
        F.cross_entropy(net(words).float(), words).backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
    torch.xpu.synchronize()


def operators(dtype: torch.dtype) -> None:
    """Call common operators."""
    x, y = (torch.rand(4096, 4096, device="xpu", dtype=dtype) for _ in range(2))
    for operator in BINARY:
        for a, b in ((x, y), (x, 2.0), (x, y[:1]), (x.t(), y)):
            operator(a, b)
    for operator in UNARY:
        operator(x)
    for function in ALONG:
        for dim in (0, 1):
            function(x, dim)
    for reduction in (torch.sum, torch.mean, torch.max, torch.norm):
        reduction(x)
    torch.cat((x, y)), torch.cat((x, y), 1), torch.stack((x, y))
    x.t().contiguous(), x[:, ::2].contiguous(), x.clone(), torch.zeros_like(x), torch.ones_like(x)
    (
        torch.where(x > y, x, y),
        torch.clamp(x, 0.2, 0.8),
        torch.lerp(x, y, 0.5),
        x.masked_fill(x > y, 0),
    )
    x += y
    x *= 2
    x.addcmul_(x, y, value=0.5).addcdiv_(x, y + 1).copy_(y).zero_().fill_(1)
    for other in (torch.float32, torch.bfloat16, torch.float16):
        x.to(other)
    torch.xpu.synchronize()


CASES: dict[str, Callable[[], None]] = {"operators": partial(operators, torch.float32)}
for dtype in (torch.float32, torch.bfloat16):
    for kind in OPTIMIZERS:
        CASES[f"training {dtype} {kind.__name__}"] = partial(training, dtype, kind)
