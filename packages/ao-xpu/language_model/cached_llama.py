"""A Llama for one text at a time, with keys and values in tensors of fixed size: all steps are the same work.

Queries, keys and values are one layer, and so are the gate and the upper projection.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Sizes:
    """The sizes of a model, by default those of SmolLM2-135M; ``positions`` is the length of a text."""

    words: int = 49152
    width: int = 576
    heads: int = 9
    kv_heads: int = 3
    hidden: int = 1536
    depth: int = 30
    positions: int = 512
    theta: float = 100_000.0
    eps: float = 1e-5

    @property
    def head(self) -> int:
        """The numbers of a head."""
        return self.width // self.heads


class Block(nn.Module):
    """Attention over the cached positions, and a gated feed-forward layer."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.sizes = sizes
        rows = (sizes.heads + 2 * sizes.kv_heads) * sizes.head
        self.qkv = nn.Linear(sizes.width, rows, bias=False)
        self.o = nn.Linear(sizes.width, sizes.width, bias=False)
        self.gate_up = nn.Linear(sizes.width, 2 * sizes.hidden, bias=False)
        self.down = nn.Linear(sizes.hidden, sizes.width, bias=False)
        self.norms = nn.ModuleList(nn.RMSNorm(sizes.width, sizes.eps) for _ in range(2))
        self.make_cache()

    def make_cache(self, device: str | None = None, dtype: torch.dtype | None = None) -> None:
        """Make the buffers of keys and values, empty."""
        shape = (self.sizes.positions, self.sizes.kv_heads, self.sizes.head)
        for name in ("keys", "values"):
            self.register_buffer(name, torch.zeros(shape, device=device, dtype=dtype), False)

    def forward(
        self, x: Tensor, places: Tensor, rotation: tuple[Tensor, Tensor], mask: Tensor
    ) -> Tensor:
        """Return the block's output [T, width] for words at ``places`` [T]."""
        heads, kv_heads, head = self.sizes.heads, self.sizes.kv_heads, self.sizes.head
        qkv = self.qkv(self.norms[0](x)).view(len(x), heads + 2 * kv_heads, head)
        qk, v = qkv.split((heads + kv_heads, kv_heads), 1)
        cos, sin = rotation
        q, k = (qk * cos).addcmul(qk.roll(head // 2, -1), sin).split((heads, kv_heads), 1)
        self.keys.index_copy_(0, places, k)
        self.values.index_copy_(0, places, v)
        q, k, v = (t.transpose(0, 1).unsqueeze(0) for t in (q, self.keys, self.values))
        attended = F.scaled_dot_product_attention(q, k, v, mask, enable_gqa=True)
        x = x + self.o(attended.squeeze(0).transpose(0, 1).reshape(x.shape))
        gate, up = self.gate_up(self.norms[1](x)).chunk(2, -1)
        return x + self.down(F.silu(gate) * up)


class Llama(nn.Module):
    """Returns the logits that follow each word of a part of a text."""

    def __init__(self, sizes: Sizes = Sizes()) -> None:
        super().__init__()
        self.sizes = sizes
        self.embedding = nn.Embedding(sizes.words, sizes.width)
        self.blocks = nn.ModuleList(Block(sizes) for _ in range(sizes.depth))
        self.norm = nn.RMSNorm(sizes.width, sizes.eps)
        self.lm_head = nn.Linear(sizes.width, sizes.words, bias=False)
        self.make_tables()

    def make_tables(self, device: str | None = None, dtype: torch.dtype | None = None) -> None:
        """Make the buffers of rotations and positions."""
        half = self.sizes.head // 2
        order = torch.arange(self.sizes.positions, device="cpu")
        frequencies = self.sizes.theta ** (-torch.arange(half, device="cpu").double() / half)
        angles = order.unsqueeze(1) * frequencies
        cos, sin = angles.cos(), angles.sin()
        # The first half of a head is multiplied by -sin of the second.
        tables = {"cos": torch.cat((cos, cos), 1), "sin": torch.cat((-sin, sin), 1)}
        for name, table in tables.items():
            self.register_buffer(name, table.unsqueeze(1).to(device, dtype or torch.float32), False)
        self.register_buffer("order", order.to(device), False)

    def make_buffers(self, device: str, dtype: torch.dtype) -> Llama:
        """Make all buffers, which a model that was made on the device ``meta`` lacks."""
        self.make_tables(device, dtype)
        for block in self.blocks:
            block.make_cache(device, dtype)
        return self

    def forward(self, words: Tensor, places: Tensor) -> Tensor:
        """Return logits [T, words] for words [T] at ``places`` [T], whose predecessors were given before."""
        x = self.embedding(words)
        rotation = self.cos[places], self.sin[places]
        mask = self.order <= places.unsqueeze(1)
        for block in self.blocks:
            x = block(x, places, rotation, mask)
        return self.lm_head(self.norm(x))


def state_of(parameters: Mapping[str, Tensor], depth: int) -> dict[str, Tensor]:
    """Return the state dict of a Llama from parameters by transformers' names."""
    state = {
        "embedding.weight": parameters["model.embed_tokens.weight"],
        "norm.weight": parameters["model.norm.weight"],
        "lm_head.weight": parameters["lm_head.weight"],
    }
    groups = {
        "qkv": ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"),
        "o": ("self_attn.o_proj",),
        "gate_up": ("mlp.gate_proj", "mlp.up_proj"),
        "down": ("mlp.down_proj",),
        "norms.0": ("input_layernorm",),
        "norms.1": ("post_attention_layernorm",),
    }
    for i in range(depth):
        for name, parts in groups.items():
            weights = [parameters[f"model.layers.{i}.{part}.weight"] for part in parts]
            joined = weights[0] if len(weights) == 1 else torch.cat(weights)
            state[f"blocks.{i}.{name}.weight"] = joined
    return state
