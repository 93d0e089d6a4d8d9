"""Small networks of every common layer, trained and evaluated with PyTorch in every precision."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

WIDTH, CLASSES, BATCH = 64, 10, 8


class Transformer(nn.Module):
    """A language model with learned or rotary positions."""

    def __init__(self, norm: type[nn.Module], is_rotary: bool) -> None:
        super().__init__()
        self.is_rotary = is_rotary
        self.words, self.places = nn.Embedding(128, WIDTH), nn.Embedding(32, WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.gate, self.up = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(WIDTH, 4 * WIDTH)
        self.down, self.head = nn.Linear(4 * WIDTH, WIDTH), nn.Linear(WIDTH, 128, bias=False)
        self.norms, self.dropout = nn.ModuleList(norm(WIDTH) for _ in range(3)), nn.Dropout(0.1)

    def rotated(self, x: Tensor) -> Tensor:
        """Return heads turned by their places."""
        places = torch.arange(x.shape[2], device=x.device).float()
        angles = torch.outer(places, 1 / 100 ** (torch.arange(0, 8, device=x.device) / 8))
        cos, sin = (
            torch.cat((f(angles), f(angles)), -1).to(x.dtype) for f in (torch.cos, torch.sin)
        )
        low, high = x.chunk(2, -1)
        return x * cos + torch.cat((-high, low), -1) * sin

    def forward(self, words: Tensor) -> Tensor:
        """Return the logits after each word."""
        x = self.words(words)
        if not self.is_rotary:
            x = self.dropout(x + self.places(torch.arange(words.shape[1], device=words.device)))
        h = self.qkv(self.norms[0](x)).view(*words.shape, 3, 4, WIDTH // 4)
        q, k, v = (t.transpose(1, 2) for t in h.unbind(2))
        if self.is_rotary:
            q, k = self.rotated(q), self.rotated(k)
        h = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.dropout(self.out(h.transpose(1, 2).reshape(x.shape)))
        h = self.norms[1](x)
        h = F.silu(self.gate(h)) * self.up(h) if self.is_rotary else F.gelu(self.up(h))
        return self.head(self.norms[2](x + self.down(h)))


class Recurrent(nn.Module):
    """A tagger of words."""

    def __init__(self, kind: type[nn.RNNBase]) -> None:
        super().__init__()
        self.words, self.head = nn.Embedding(128, WIDTH), nn.Linear(WIDTH, 128)
        self.layers = kind(WIDTH, WIDTH, num_layers=2, batch_first=True)

    def forward(self, words: Tensor) -> Tensor:
        """Return the logits of each word's tag."""
        return self.head(self.layers(self.words(words))[0])


def perceptron(activation: type[nn.Module], norm: Callable[[int], nn.Module]) -> nn.Module:
    """Return a network of linear layers."""
    hidden = (nn.Linear(WIDTH, 128), norm(128), activation(), nn.Dropout(0.1))
    return nn.Sequential(*hidden, nn.Linear(128, CLASSES))


class Residual(nn.Module):
    """Two convolutions beside a shorter way."""

    def __init__(self, before: int, after: int, stride: int) -> None:
        super().__init__()
        self.way = nn.Sequential(
            nn.Conv2d(before, after, 3, stride, 1, bias=False),
            nn.BatchNorm2d(after),
            nn.ReLU(inplace=True),
            nn.Conv2d(after, after, 3, 1, 1, bias=False),
            nn.BatchNorm2d(after),
        )
        self.short = nn.Sequential(nn.Conv2d(before, after, 1, stride), nn.BatchNorm2d(after))

    def forward(self, x: Tensor) -> Tensor:
        """Return the sum of both ways."""
        return F.relu(self.way(x) + self.short(x), inplace=True)


def convolutional() -> nn.Module:
    """Return a classifier of images in the manner of ResNet."""
    stem = (nn.Conv2d(3, 16, 7, 2, 3), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(3, 2, 1))
    top = (nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, CLASSES))
    return nn.Sequential(*stem, Residual(16, 16, 1), Residual(16, 32, 2), *top)


def separable() -> nn.Module:
    """Return a classifier with depthwise convolutions."""
    deep = (nn.Conv2d(16, 16, 3, 1, 1, groups=16), nn.GroupNorm(4, 16), nn.Hardswish())
    top = (nn.AvgPool2d(2), nn.Conv2d(16, 32, 1), nn.SiLU(), nn.Flatten(), nn.LazyLinear(CLASSES))
    return nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1), nn.ReLU6(), *deep, *top)


def autoencoder() -> nn.Module:
    """Return a network from images to images."""
    narrow = (nn.Conv2d(3, 16, 3, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(16, 32, 3, 2, 1), nn.ELU())
    wide = (nn.ConvTranspose2d(32, 16, 4, 2, 1), nn.InstanceNorm2d(16), nn.Upsample(scale_factor=2))
    return nn.Sequential(*narrow, *wide, nn.ReLU(), nn.Conv2d(16, 3, 3, 1, 1), nn.Sigmoid())


WORDS = torch.randint(128, (BATCH, 16))
IMAGES = torch.randn(BATCH, 3, 32, 32)
NUMBERS = torch.randn(BATCH, WIDTH)
LABELS = torch.randint(CLASSES, (BATCH,))
CHANNELS_LAST = torch.channels_last


NETWORKS: dict[str, tuple[Callable[[], nn.Module], Tensor, Tensor]] = {
    "convolutional": (convolutional, IMAGES, LABELS),
    "convolutional, channels last": (convolutional, IMAGES.to(memory_format=CHANNELS_LAST), LABELS),
    "separable": (separable, IMAGES, LABELS),
    "separable, channels last": (separable, IMAGES.to(memory_format=CHANNELS_LAST), LABELS),
    "autoencoder": (autoencoder, IMAGES, torch.rand(BATCH, 3, 32, 32)),
    "transformer": (partial(Transformer, nn.LayerNorm, False), WORDS, WORDS),
    "rotary transformer": (partial(Transformer, nn.RMSNorm, True), WORDS, WORDS),
    "LSTM": (partial(Recurrent, nn.LSTM), WORDS, WORDS),
    "GRU": (partial(Recurrent, nn.GRU), WORDS, WORDS),
}
for activation in (nn.ReLU, nn.GELU, nn.Tanh, nn.Sigmoid, nn.SiLU, nn.Softplus, nn.Mish):
    norm = nn.BatchNorm1d if activation is nn.ReLU else nn.LayerNorm
    name = f"perceptron of {activation.__name__}"
    NETWORKS[name] = partial(perceptron, activation, norm), NUMBERS, LABELS


def loss_of(out: Tensor, target: Tensor) -> Tensor:
    """Return the loss that goes with the target."""
    if target.is_floating_point():
        return F.mse_loss(out.float(), target.float())
    return F.cross_entropy(out.flatten(0, -2).float(), target.flatten())


def train(net: nn.Module, given: Tensor, target: Tensor, optimizer: torch.optim.Optimizer) -> None:
    """Train a step, then look at what the network says."""
    for _ in range(2):
        optimizer.zero_grad()
        loss = loss_of(net(given), target)
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
    loss.item()
    with torch.inference_mode():
        out = net.eval()(given)
        if not target.is_floating_point():
            (out.argmax(-1) == target).float().mean().item()
            out.float().softmax(-1).max(-1)
    net.train()


OPTIMIZERS: dict[str, Callable[..., torch.optim.Optimizer]] = {
    "AdamW": partial(torch.optim.AdamW, lr=1e-3),
    "SGD": partial(torch.optim.SGD, lr=1e-2, momentum=0.9, weight_decay=1e-4),
    "Adam": partial(torch.optim.Adam, lr=1e-3, fused=True),
}


def on_device(
    make: Callable[[], nn.Module], given: Tensor, target: Tensor, dtype: torch.dtype
) -> tuple[nn.Module, Tensor, Tensor]:
    """Return a new network, its input and what it is to return, on xpu."""
    net = make()
    net(given)  # makes lazy layers
    net = net.to("xpu", dtype)
    if not given.is_floating_point():
        return net, given.to("xpu"), target.to("xpu")
    if given.is_contiguous(memory_format=CHANNELS_LAST):
        net = net.to(memory_format=CHANNELS_LAST)
    return net, given.to("xpu", dtype), target.to("xpu")


def train_in(
    dtype: torch.dtype, optimizer: Callable[..., torch.optim.Optimizer], *network: Any
) -> None:
    """Train in one precision."""
    net, x, y = on_device(*network, dtype)
    train(net, x, y, optimizer(net.parameters()))
    torch.xpu.synchronize()


def train_mixed(lower: torch.dtype, *network: Any) -> None:
    """Train with f32 weights and lower precision where it serves."""
    net, x, y = on_device(*network, torch.float32)
    with torch.autocast("xpu", dtype=lower):
        loss = loss_of(net(x), y)
    scaler = torch.amp.GradScaler("xpu", enabled=lower == torch.float16)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    torch.xpu.synchronize()


LOWER = (torch.bfloat16, torch.float16)
CASES: dict[str, Callable[[], None]] = {}
for name, network in NETWORKS.items():
    for kind, optimizer in OPTIMIZERS.items():
        CASES[f"{name} with {kind}"] = partial(train_in, torch.float32, optimizer, *network)
    for dtype in LOWER:
        CASES[f"{name} in {dtype}"] = partial(train_in, dtype, OPTIMIZERS["AdamW"], *network)
        CASES[f"{name}, mixed with {dtype}"] = partial(train_mixed, dtype, *network)
