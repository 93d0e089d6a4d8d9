"""Compiled blocks of networks, in inference and training."""

from functools import partial

import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    """A block of GPT-2."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv, self.out = nn.Linear(64, 192), nn.Linear(64, 64)
        self.up, self.down = nn.Linear(64, 256), nn.Linear(256, 64)
        self.norms = nn.ModuleList(nn.LayerNorm(64) for _ in range(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the block's output."""
        h = self.qkv(self.norms[0](x)).view(*x.shape[:2], 3, 4, 16)
        q, k, v = (t.transpose(1, 2) for t in h.unbind(2))
        h = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(h.transpose(1, 2).reshape(x.shape))
        return x + self.down(F.gelu(self.up(self.norms[1](x)), approximate="tanh"))


def train(dtype: torch.dtype) -> None:
    """Train a compiled block, and ask it."""
    block = Block().to("xpu", dtype)
    x = torch.randn(2, 16, 64, device="xpu", dtype=dtype)
    compiled = torch.compile(block)
    compiled(x).square().mean().backward()
    with torch.inference_mode():
        compiled(x)
    torch.xpu.synchronize()


CASES = {str(dtype): partial(train, dtype) for dtype in (torch.float32, torch.bfloat16)}
