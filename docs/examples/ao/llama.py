"""A decoder in the shape of Llama: RMSNorm, rotary attention with a cache of keys and values, SwiGLU."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass(frozen=True)
class Shape:
    words: int
    width: int = 128
    hidden: int = 256
    heads: int = 4
    layers: int = 2
    context: int = 64


class Cache:
    """Keys and values of all positions, in tensors of fixed size: a captured graph can write to them."""

    def __init__(self, shape: Shape, device: str, dtype: torch.dtype) -> None:
        size = (2, 1, shape.heads, shape.context, shape.width // shape.heads)
        self.layers = [torch.zeros(size, device=device, dtype=dtype) for _ in range(shape.layers)]
        self.position = torch.zeros(1, dtype=torch.long, device=device)
        self.places = torch.arange(shape.context, device=device)

    def append(self, layer: int, k: torch.Tensor, v: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Write one position, and return all: those that are not filled yet are masked."""
        keys, values = self.layers[layer]
        return keys.index_copy_(2, self.position, k), values.index_copy_(2, self.position, v)

    def mask(self) -> torch.Tensor:
        return (self.places <= self.position)[None]


class Attention(nn.Module):
    def __init__(self, shape: Shape, layer: int) -> None:
        super().__init__()
        self.heads, self.layer = shape.heads, layer
        self.q, self.k, self.v, self.o = (
            nn.Linear(shape.width, shape.width, bias=False) for _ in range(4)
        )

    def forward(self, x, rotation, cache=None):
        q, k, v = (
            linear(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for linear in (self.q, self.k, self.v)
        )
        q, k = rotate(q, rotation), rotate(k, rotation)
        if cache is None:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            k, v = cache.append(self.layer, k, v)
            y = F.scaled_dot_product_attention(q, k, v, attn_mask=cache.mask())
        return self.o(y.transpose(1, 2).flatten(-2))


class FeedForward(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.gate, self.up = (nn.Linear(shape.width, shape.hidden, bias=False) for _ in range(2))
        self.down = nn.Linear(shape.hidden, shape.width, bias=False)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


class Block(nn.Module):
    def __init__(self, shape: Shape, layer: int) -> None:
        super().__init__()
        self.norms = nn.ModuleList(nn.RMSNorm(shape.width, eps=1e-5) for _ in range(2))
        self.attention, self.feed_forward = Attention(shape, layer), FeedForward(shape)

    def forward(self, x, rotation, cache=None):
        x = x + self.attention(self.norms[0](x), rotation, cache)
        return x + self.feed_forward(self.norms[1](x))


class Llama(nn.Module):
    """Returns the logits [batch, positions, words] of the words that follow."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.embedding = nn.Embedding(shape.words, shape.width)
        self.blocks = nn.ModuleList(Block(shape, layer) for layer in range(shape.layers))
        self.norm = nn.RMSNorm(shape.width, eps=1e-5)
        self.head = nn.Linear(shape.width, shape.words, bias=False)
        size = shape.width // shape.heads
        angles = torch.outer(
            torch.arange(shape.context), 10000.0 ** (-torch.arange(0, size, 2) / size)
        )
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)
        for parameter in self.parameters():
            if parameter.dim() == 2:
                nn.init.normal_(parameter, std=0.02)

    def forward(self, numbers, cache=None):
        count = numbers.shape[1]
        cos, sin = (
            table[:count] if cache is None else table.index_select(0, cache.position)
            for table in (self.cos, self.sin)
        )
        x = self.embedding(numbers)
        for block in self.blocks:
            x = block(x, (cos, sin), cache)
        return self.head(self.norm(x))


def rotate(x: torch.Tensor, rotation: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
    """Turn each pair of elements by the angle of its position."""
    cos, sin = rotation
    first, second = x.chunk(2, -1)
    return torch.cat((first * cos - second * sin, first * sin + second * cos), -1).to(x.dtype)


class Writer:
    """Continues a text word by word; every step is the same work, so it can be replayed from a graph."""

    def __init__(self, model: Llama) -> None:
        parameter = model.norm.weight
        self.model, self.cache = model, Cache(model.shape, parameter.device.type, parameter.dtype)
        self.word = torch.zeros(1, 1, dtype=torch.long, device=parameter.device)
        self.next = self.step

    @torch.no_grad()
    def step(self) -> None:
        """Read the word at its position; leave the most likely next word, and its position."""
        logits = self.model(self.word, self.cache)
        self.word.copy_(logits[:, -1:].argmax(-1))
        self.cache.position.add_(1)

    def capture(self) -> None:
        """Record a step in a graph, which `next` replays from now on."""
        self.cache.position.zero_()
        self.step()  # builds the kernels
        graph = torch.xpu.XPUGraph()
        with torch.xpu.graph(graph):
            self.step()
        self.next = graph.replay

    def write(self, start: torch.Tensor, count: int) -> torch.Tensor:
        """Return the `count` words that continue the words of `start`; they stay on the device."""
        self.cache.position.zero_()
        written = torch.empty(count, dtype=torch.long, device=self.word.device)
        for number in start:
            self.word.fill_(number)
            self.next()
        for i in range(count):
            written[i] = self.word[0, 0]
            self.next()
        return written
