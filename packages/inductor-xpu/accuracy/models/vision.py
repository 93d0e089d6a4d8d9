"""Small vision models: classifiers, a segmenter, generators, and a network that enlarges images."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .language import Block


def _convolution(channels: int, out: int, kernel: int, stride: int = 1, groups: int = 1):
    """Return a convolution without bias that keeps the size at stride 1, and its normalization."""
    convolution = nn.Conv2d(channels, out, kernel, stride, kernel // 2, groups=groups, bias=False)
    return nn.Sequential(convolution, nn.BatchNorm2d(out))


class Bottleneck(nn.Module):
    """The block of ResNet-50."""

    def __init__(self, channels: int, width: int, stride: int) -> None:
        super().__init__()
        self.convolutions = nn.Sequential(
            *(_convolution(channels, width, 1), nn.ReLU(inplace=True)),
            *(_convolution(width, width, 3, stride), nn.ReLU(inplace=True)),
            _convolution(width, 4 * width, 1),
        )
        self.shortcut = _convolution(channels, 4 * width, 1, stride)

    def forward(self, x: Tensor) -> Tensor:
        return F.relu(self.convolutions(x) + self.shortcut(x))


def resnet(width: int = 8, classes: int = 10) -> nn.Module:
    """Return a ResNet with one bottleneck a stage."""
    blocks = [
        Bottleneck(width if i == 0 else 2 * (width << i), width << i, 1 if i == 0 else 2)
        for i in range(4)
    ]
    stem = (_convolution(3, width, 7, 2), nn.ReLU(), nn.MaxPool2d(3, 2, 1))
    head = (nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32 * width, classes))
    return nn.Sequential(*stem, *blocks, *head)


class InvertedResidual(nn.Module):
    """The block of MobileNet: a depthwise convolution between two of size one."""

    def __init__(self, channels: int, out: int, stride: int) -> None:
        super().__init__()
        inner = 4 * channels
        self.is_residual = stride == 1 and channels == out
        self.convolutions = nn.Sequential(
            *(_convolution(channels, inner, 1), nn.Hardswish()),
            *(_convolution(inner, inner, 3, stride, groups=inner), nn.Hardswish()),
            _convolution(inner, out, 1),
        )

    def forward(self, x: Tensor) -> Tensor:
        y = self.convolutions(x)
        return x + y if self.is_residual else y


def mobilenet(width: int = 8, classes: int = 10) -> nn.Module:
    """Return a MobileNet of six blocks."""
    blocks = []
    for i in range(3):
        channels = width << i
        blocks += [InvertedResidual(channels, channels, 1)]
        blocks += [InvertedResidual(channels, 2 * channels, 2)]
    stem = (_convolution(3, width, 3, 2), nn.Hardswish())
    head = (nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8 * width, classes))
    return nn.Sequential(*stem, *blocks, *head)


class ConvNeXtBlock(nn.Module):
    """A depthwise convolution of size seven, and an MLP over channels, which are last."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.depthwise = nn.Conv2d(width, width, 7, padding=3, groups=width)
        self.norm = nn.LayerNorm(width)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )
        self.scale = nn.Parameter(torch.full((width,), 0.1))

    def forward(self, x: Tensor) -> Tensor:
        y = self.norm(self.depthwise(x).permute(0, 2, 3, 1))
        return x + (self.scale * self.mlp(y)).permute(0, 3, 1, 2)


def convnext(width: int = 16, classes: int = 10) -> nn.Module:
    """Return a ConvNeXt of two stages."""
    stem = nn.Conv2d(3, width, 4, 4)
    down = nn.Conv2d(width, 2 * width, 2, 2)
    head = (nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2 * width, classes))
    first, second = ((ConvNeXtBlock(w), ConvNeXtBlock(w)) for w in (width, 2 * width))
    return nn.Sequential(stem, *first, down, *second, *head)


class PatchClassifier(nn.Module):
    """Patches of an image as a sequence, blocks, and the logits of the mean: ViT and MLP-Mixer."""

    def __init__(self, blocks: list[nn.Module], patch: int, patches: int, width: int) -> None:
        super().__init__()
        self.embed = nn.Conv2d(3, width, patch, patch)
        self.places = nn.Parameter(0.02 * torch.randn(patches, width))
        self.blocks = nn.Sequential(*blocks)
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, 10)

    def forward(self, x: Tensor) -> Tensor:
        x = self.embed(x).flatten(2).transpose(1, 2) + self.places
        return self.head(self.norm(self.blocks(x)).mean(1))


def vit(size: int = 32, patch: int = 8, width: int = 48, heads: int = 4, depth: int = 2):
    """Return a vision transformer for images of one size."""
    blocks: list[nn.Module] = [Block(width, heads) for _ in range(depth)]
    return PatchClassifier(blocks, patch, (size // patch) ** 2, width)


class MixerBlock(nn.Module):
    """An MLP over patches and an MLP over channels."""

    def __init__(self, patches: int, width: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.over_patches, self.over_channels = (
            nn.Sequential(nn.Linear(n, 2 * n), nn.GELU(), nn.Linear(2 * n, n))
            for n in (patches, width)
        )

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.over_patches(self.norm1(x).transpose(1, 2)).transpose(1, 2)
        return x + self.over_channels(self.norm2(x))


def mixer(size: int = 32, patch: int = 8, width: int = 48, depth: int = 2) -> nn.Module:
    """Return an MLP-Mixer for images of one size."""
    patches = (size // patch) ** 2
    blocks: list[nn.Module] = [MixerBlock(patches, width) for _ in range(depth)]
    return PatchClassifier(blocks, patch, patches, width)


def _double_convolution(channels: int, out: int) -> nn.Module:
    first, second = _convolution(channels, out, 3), _convolution(out, out, 3)
    return nn.Sequential(first, nn.ReLU(inplace=True), second, nn.ReLU(inplace=True))


class UNet(nn.Module):
    """A segmenter: three scales, with connections from each way down to the way up."""

    def __init__(self, width: int = 8, classes: int = 2) -> None:
        super().__init__()
        self.first = _double_convolution(3, width)
        self.second = _double_convolution(width, 2 * width)
        self.third = _double_convolution(2 * width, 4 * width)
        self.up2 = nn.ConvTranspose2d(4 * width, 2 * width, 2, 2)
        self.last2 = _double_convolution(4 * width, 2 * width)
        self.last1 = _double_convolution(3 * width, width)
        self.head = nn.Conv2d(width, classes, 1)

    def forward(self, x: Tensor) -> Tensor:
        first = self.first(x)
        second = self.second(F.max_pool2d(first, 2))
        third = self.third(F.max_pool2d(second, 2))
        y = self.last2(torch.cat([second, self.up2(third)], 1))
        y = F.interpolate(y, scale_factor=2.0, mode="bilinear", align_corners=False)
        return self.head(self.last1(torch.cat([first, y], 1)))


def dcgan_generator(noise: int = 24, width: int = 8) -> nn.Module:
    """Return DCGAN's generator of images of 32x32 from noise."""
    return nn.Sequential(
        nn.Unflatten(1, (noise, 1, 1)),
        *(nn.ConvTranspose2d(noise, 4 * width, 4, bias=False), nn.BatchNorm2d(4 * width)),
        nn.ReLU(inplace=True),
        *(nn.ConvTranspose2d(4 * width, 2 * width, 4, 2, 1, bias=False),),
        *(nn.BatchNorm2d(2 * width), nn.ReLU(inplace=True)),
        *(nn.ConvTranspose2d(2 * width, width, 4, 2, 1, bias=False), nn.BatchNorm2d(width)),
        nn.ReLU(inplace=True),
        *(nn.ConvTranspose2d(width, 3, 4, 2, 1, bias=False), nn.Tanh()),
    )


def dcgan_discriminator(width: int = 8) -> nn.Module:
    """Return DCGAN's discriminator of images of 32x32."""
    return nn.Sequential(
        *(nn.Conv2d(3, width, 4, 2, 1, bias=False), nn.LeakyReLU(0.2, inplace=True)),
        *(nn.Conv2d(width, 2 * width, 4, 2, 1, bias=False), nn.BatchNorm2d(2 * width)),
        nn.LeakyReLU(0.2, inplace=True),
        *(nn.Conv2d(2 * width, 4 * width, 4, 2, 1, bias=False), nn.BatchNorm2d(4 * width)),
        nn.LeakyReLU(0.2, inplace=True),
        *(nn.Conv2d(4 * width, 1, 4, bias=False), nn.Sigmoid(), nn.Flatten(0)),
    )


def super_resolution(factor: int = 2, width: int = 16) -> nn.Module:
    """Return a network that enlarges images of one channel by shuffling channels into pixels."""
    return nn.Sequential(
        *(nn.Conv2d(1, width, 5, padding=2), nn.ReLU()),
        *(nn.Conv2d(width, width, 3, padding=1), nn.ReLU()),
        *(nn.Conv2d(width, factor**2, 3, padding=1), nn.PixelShuffle(factor)),
    )
