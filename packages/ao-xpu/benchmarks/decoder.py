"""A decoding step of a Llama shape: a token through all layers, keys and values in a cache."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    """Attention over the cached positions, and a gated feed-forward layer."""

    def __init__(self, width: int, heads: int, hidden: int, positions: int) -> None:
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.q, self.k, self.v, self.o = (nn.Linear(width, width, bias=False) for _ in range(4))
        self.gate, self.up = (nn.Linear(width, hidden, bias=False) for _ in range(2))
        self.down = nn.Linear(hidden, width, bias=False)
        self.norms = nn.ModuleList(nn.RMSNorm(width) for _ in range(2))
        for name in ("keys", "values"):
            self.register_buffer(name, torch.zeros(1, heads, positions, self.size))

    def forward(self, x: torch.Tensor, position: torch.Tensor) -> torch.Tensor:
        """Return the block's output for one token."""
        h = self.norms[0](x)
        q, k, v = (
            linear(h).view(1, 1, self.heads, self.size).transpose(1, 2)
            for linear in (self.q, self.k, self.v)
        )
        self.keys.index_copy_(2, position, k)
        self.values.index_copy_(2, position, v)
        attended = F.scaled_dot_product_attention(q, self.keys, self.values)
        x = x + self.o(attended.transpose(1, 2).reshape(x.shape))
        h = self.norms[1](x)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))


class Decoder(nn.Module):
    """Returns the logits that follow a token. With the default sizes the layers have 300 M parameters."""

    def __init__(
        self,
        width: int = 1024,
        heads: int = 16,
        hidden: int = 2816,
        depth: int = 23,
        words: int = 8192,
        positions: int = 128,
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.blocks = nn.ModuleList(Block(width, heads, hidden, positions) for _ in range(depth))
        self.norm = nn.RMSNorm(width)
        self.head = nn.Linear(width, words, bias=False)

    def forward(self, token: torch.Tensor, position: torch.Tensor) -> torch.Tensor:
        """Return logits [1, 1, words]."""
        x = self.embedding(token)
        for block in self.blocks:
            x = block(x, position)
        return self.head(self.norm(x))
