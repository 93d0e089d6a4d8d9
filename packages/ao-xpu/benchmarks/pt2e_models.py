"""The models of bench_pt2e.py: layers that PT2E quantizes, with what usually stands between them."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Block(nn.Module):
    """A layer of a transformer."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.q, self.k, self.v, self.out = (nn.Linear(width, width) for _ in range(4))
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        y = self.norm(x)
        q, k, v = (
            f(y).unflatten(-1, (self.heads, -1)).transpose(1, 2) for f in (self.q, self.k, self.v)
        )
        y = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(-2)
        x = x + self.out(y)
        return x + self.down(F.gelu(self.up(self.norm2(x))))


def _convolution(
    channels: int, width: int, size: int = 3, stride: int = 1, groups: int = 1
) -> nn.Module:
    layer = nn.Conv2d(channels, width, size, stride, size // 2, groups=groups, bias=False)
    return nn.Sequential(layer, nn.BatchNorm2d(width))


class BasicBlock(nn.Module):
    """A block of a ResNet."""

    def __init__(self, channels: int, width: int, stride: int) -> None:
        super().__init__()
        self.first, self.second = (
            _convolution(channels, width, 3, stride),
            _convolution(width, width),
        )
        self.shortcut = nn.Identity() if stride == 1 else _convolution(channels, width, 1, stride)

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(self.second(torch.relu(self.first(x))) + self.shortcut(x))


class InvertedBlock(nn.Module):
    """A block of a MobileNet of version 2."""

    def __init__(self, channels: int, width: int, stride: int) -> None:
        super().__init__()
        inner = 4 * channels
        self.expand, self.project = _convolution(channels, inner, 1), _convolution(inner, width, 1)
        self.depthwise = _convolution(inner, inner, 3, stride, inner)
        self.adds = channels == width and stride == 1

    def forward(self, x: Tensor) -> Tensor:
        y = self.project(F.relu6(self.depthwise(F.relu6(self.expand(x)))))
        return y + x if self.adds else y


def _classifier(channels: int) -> list[nn.Module]:
    return [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 100)]


def resnet(width: int) -> nn.Module:
    """Return a ResNet of six blocks."""
    layers = [_convolution(3, width, 7, 2), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    for factor in (1, 2, 4):
        before = max(1, factor // 2) * width
        layers += [BasicBlock(before, factor * width, 1 if factor == 1 else 2)]
        layers += [BasicBlock(factor * width, factor * width, 1)]
    return nn.Sequential(*layers, *_classifier(4 * width))


def mobilenet(width: int) -> nn.Module:
    """Return a MobileNet of six blocks."""
    layers = [_convolution(3, width, 3, 2), nn.ReLU6()]
    for before, after, stride in ((1, 2, 2), (2, 2, 1), (2, 4, 2), (4, 4, 1), (4, 8, 2), (8, 8, 1)):
        layers += [InvertedBlock(before * width, after * width, stride)]
    return nn.Sequential(*layers, *_classifier(8 * width))


def vgg(width: int) -> nn.Module:
    """Return a VGG of six convolutions."""
    layers: list[nn.Module] = []
    before = 3
    for factor in (1, 2, 4):
        for _ in range(2):
            layers += [nn.Conv2d(before, factor * width, 3, padding=1), nn.ReLU()]
            before = factor * width
        layers += [nn.MaxPool2d(2)]
    return nn.Sequential(*layers, *_classifier(before))
