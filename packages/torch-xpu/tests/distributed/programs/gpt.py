"""A small model of GPT-2's shape, its data and its training; imported by the programs of this folder."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional
from two_ranks import DEVICE

WORDS = 96
WIDTH = 32
HEAD = 8
BATCH = 8
LENGTH = 16
STEPS = 20


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.query = nn.Linear(WIDTH, WIDTH)
        # A bias of the keys changes nothing: its gradient is noise, of which Adam makes steps.
        self.key = nn.Linear(WIDTH, WIDTH, bias=False)
        self.value = nn.Linear(WIDTH, WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        # With tensor parallelism a rank has some of the heads.
        parts = [
            layer(x).unflatten(-1, (-1, HEAD)).transpose(1, 2)
            for layer in (self.query, self.key, self.value)
        ]
        mixed = functional.scaled_dot_product_attention(*parts, is_causal=True)
        return self.out(mixed.transpose(1, 2).flatten(2))


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first_norm = nn.LayerNorm(WIDTH)
        self.attention = Attention()
        self.second_norm = nn.LayerNorm(WIDTH)
        self.up = nn.Linear(WIDTH, 4 * WIDTH)
        self.down = nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.first_norm(x))
        return x + self.down(functional.gelu(self.up(self.second_norm(x)), approximate="tanh"))


class GPT(nn.Module):
    def __init__(self, layers: int) -> None:
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.places = nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(layers))
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, WORDS, bias=False)

    def forward(self, words: Tensor) -> Tensor:
        x = self.words(words) + self.places(torch.arange(words.shape[1], device=words.device))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def model(layers: int = 2) -> GPT:
    """Return the model with the same weights in every process."""
    torch.manual_seed(0)
    return GPT(layers).to(DEVICE)


def batch(step: int) -> Tensor:
    """Return a step's sequences, which the model can learn: each word follows from the one before."""
    generator = torch.Generator().manual_seed(step)
    first = torch.randint(0, WORDS, (BATCH, 1), generator=generator)
    return ((first + 7 * torch.arange(LENGTH + 1)) % WORDS).to(DEVICE)


def loss_of(network: Callable[[Tensor], Tensor], words: Tensor) -> Tensor:
    logits = network(words[:, :-1])
    return functional.cross_entropy(logits.flatten(0, 1), words[:, 1:].flatten())


def optimizer(parameters: object, foreach: bool | None = None) -> torch.optim.Optimizer:
    return torch.optim.AdamW(parameters, lr=3e-3, foreach=foreach)


def train(
    network: nn.Module,
    steps: torch.optim.Optimizer,
    backward: Callable[[nn.Module, Tensor], Tensor],
) -> list[float]:
    """Return the loss of each step; `backward` computes it, and the gradients, from the whole batch."""
    losses = []
    for step in range(STEPS):
        steps.zero_grad()
        losses.append(backward(network, batch(step)))
        steps.step()
    return [loss.item() for loss in losses]


def one_process(network: nn.Module, words: Tensor) -> Tensor:
    loss = loss_of(network, words)
    loss.backward()
    return loss.detach()
