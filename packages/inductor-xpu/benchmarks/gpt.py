"""A network like GPT-2 small, for compile times and for steps that make one token."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class Block(nn.Module):
    """Attention and a perceptron; ``keys`` and ``values`` are those of the tokens of a text so far."""

    def __init__(self, width: int, heads: int, length: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        past = torch.zeros(1, heads, length, width // heads)
        self.register_buffer("keys", past, persistent=False)
        self.register_buffer("values", past.clone(), persistent=False)

    def forward(self, x: Tensor, position: Tensor | None = None) -> Tensor:
        q, k, v = (self._by_head(part) for part in self.qkv(self.norm1(x)).chunk(3, -1))
        if position is None:
            mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            keys = self.keys.index_copy_(2, position, k)
            values = self.values.index_copy_(2, position, v)
            known = torch.arange(keys.shape[2], device=x.device) <= position
            mixed = F.scaled_dot_product_attention(q, keys, values, attn_mask=known[None])
        x = x + self.out(mixed.transpose(1, 2).reshape(x.shape))
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))

    def _by_head(self, part: Tensor) -> Tensor:
        return part.unflatten(-1, (self.heads, -1)).transpose(1, 2)


class GPT(nn.Module):
    """Returns logits, or the loss if it is given the tokens to predict."""

    def __init__(
        self, layers: int = 12, width: int = 768, words: int = 50257, length: int = 1024
    ) -> None:
        super().__init__()
        self.token, self.place = nn.Embedding(words, width), nn.Embedding(length, width)
        self.blocks = nn.ModuleList(Block(width, width // 64, length) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words, bias=False)
        self.head.weight = self.token.weight

    def forward(
        self, tokens: Tensor, targets: Tensor | None = None, position: Tensor | None = None
    ) -> Tensor:
        places = self.place.weight[: tokens.shape[1]] if position is None else self.place(position)
        x = self.token(tokens) + places
        for block in self.blocks:
            x = block(x, position)
        logits = self.head(self.norm(x))
        return (
            logits if targets is None else F.cross_entropy(logits.flatten(0, 1), targets.flatten())
        )
