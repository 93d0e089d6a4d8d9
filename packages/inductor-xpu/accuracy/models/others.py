"""Small models of other kinds: recommendation, generation by noise, geometry and control."""

from __future__ import annotations

import itertools
import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def mlp(*widths: int, last: nn.Module | None = None) -> nn.Sequential:
    """Return linear layers with ReLU between them, and `last` at the end."""
    layers: list[nn.Module] = []
    for inputs, outputs in itertools.pairwise(widths):
        layers += [nn.Linear(inputs, outputs), nn.ReLU()]
    return nn.Sequential(*layers[:-1], *([last] if last else []))


class DLRM(nn.Module):
    """Recommendation: bags of embeddings, products of all pairs of features, and two MLPs."""

    def __init__(self, tables: int = 4, rows: int = 100, width: int = 16, hidden: int = 32) -> None:
        super().__init__()
        self.tables = nn.ModuleList(nn.EmbeddingBag(rows, width, mode="sum") for _ in range(tables))
        self.bottom = mlp(13, hidden, width, last=nn.ReLU())
        pairs = (tables + 1) * tables // 2
        self.top = mlp(width + pairs, hidden, 1, last=nn.Sigmoid())

    def forward(self, numbers: Tensor, words: Tensor) -> Tensor:
        x = self.bottom(numbers)
        features = [x, *(table(words[:, i]) for i, table in enumerate(self.tables))]
        stacked = torch.stack(features, 1)
        products = torch.bmm(stacked, stacked.transpose(1, 2))
        i, j = torch.tril_indices(len(features), len(features), -1, device=x.device)
        return self.top(torch.cat([x, products[:, i, j]], 1)).squeeze(1)


class VAE(nn.Module):
    """An autoencoder whose code is drawn: the noise is an input. It gives image, mean and variance."""

    def __init__(self, pixels: int = 144, hidden: int = 48, code: int = 8) -> None:
        super().__init__()
        self.encode = mlp(pixels, hidden, 2 * code)
        self.decode = mlp(code, hidden, pixels, last=nn.Sigmoid())

    def forward(self, image: Tensor, noise: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        mean, log_variance = self.encode(image).chunk(2, 1)
        return self.decode(mean + noise * (0.5 * log_variance).exp()), mean, log_variance


class DenoisingBlock(nn.Module):
    """Group norms, convolutions, and the time between them."""

    def __init__(self, width: int, times: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.GroupNorm(4, width), nn.GroupNorm(4, width)
        self.first, self.second = (nn.Conv2d(width, width, 3, padding=1) for _ in range(2))
        self.time = nn.Linear(times, width)

    def forward(self, x: Tensor, time: Tensor) -> Tensor:
        y = self.first(F.silu(self.norm1(x))) + self.time(time)[:, :, None, None]
        return x + self.second(F.silu(self.norm2(y)))


class Diffusion(nn.Module):
    """A step of diffusion: noise is added as the time says, and a network estimates it."""

    def __init__(self, width: int = 16, times: int = 16) -> None:
        super().__init__()
        self.times = times
        self.first = nn.Conv2d(3, width, 3, padding=1)
        self.blocks = nn.ModuleList(DenoisingBlock(width, times) for _ in range(2))
        self.last = nn.Conv2d(width, 3, 3, padding=1)

    def forward(self, image: Tensor, noise: Tensor, time: Tensor) -> Tensor:
        speeds = torch.exp(-torch.arange(self.times // 2, device=time.device) * 0.5)
        angles = time[:, None] * speeds
        encoded = torch.cat([angles.sin(), angles.cos()], 1).to(image.dtype)
        part = torch.cos(time * math.pi / 200).square().to(image.dtype)[:, None, None, None]
        x = self.first(image * part.sqrt() + noise * (1 - part).sqrt())
        for block in self.blocks:
            x = block(x, encoded)
        return self.last(x)


class NeRF(nn.Module):
    """Colors of rays: points in space, encoded by waves, have a density and a color; rays sum them."""

    def __init__(self, waves: int = 4, width: int = 32) -> None:
        super().__init__()
        self.waves = waves
        self.field = mlp(3 * 2 * waves, width, width, 4)

    def forward(self, points: Tensor) -> Tensor:
        scales = 2.0 ** torch.arange(self.waves, device=points.device)
        angles = (points[..., None] * scales).flatten(-2).to(points.dtype)
        density, color = self.field(torch.cat([angles.sin(), angles.cos()], -1)).split([1, 3], -1)
        opacity = 1 - torch.exp(-F.softplus(density))
        passed = torch.cumprod(1 - opacity + 1e-6, 1)
        passed = torch.cat([torch.ones_like(passed[:, :1]), passed[:, :-1]], 1)
        return (opacity * passed * color.sigmoid()).sum(1)


class PointNet(nn.Module):
    """A classifier of sets of points: an MLP for each point, and the maximum over points."""

    def __init__(self, width: int = 32, classes: int = 10) -> None:
        super().__init__()
        self.points = nn.Sequential(
            *(nn.Conv1d(3, width, 1), nn.BatchNorm1d(width), nn.ReLU()),
            *(nn.Conv1d(width, 2 * width, 1), nn.BatchNorm1d(2 * width), nn.ReLU()),
        )
        self.head = mlp(2 * width, width, classes)

    def forward(self, points: Tensor) -> Tensor:
        return F.log_softmax(self.head(self.points(points).amax(2)), 1)


class Policy(nn.Module):
    """Control: the distribution of actions, its entropy, and the value of a state."""

    def __init__(self, states: int = 24, hidden: int = 32, actions: int = 6) -> None:
        super().__init__()
        self.body = mlp(states, hidden, hidden, last=nn.Tanh())
        self.mean, self.value = nn.Linear(hidden, actions), nn.Linear(hidden, 1)
        self.log_scale = nn.Parameter(torch.zeros(actions))

    def forward(self, state: Tensor, action: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        x = self.body(state)
        scale = self.log_scale.clamp(-5, 2).exp()
        normal = torch.distributions.Normal(self.mean(x), scale, validate_args=False)
        return normal.log_prob(action).sum(1), normal.entropy().sum(1), self.value(x).squeeze(1)
