"""Small models for int8 by PT2E, each with the inputs that calibrate it and the operators that it becomes."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 128), nn.GELU(), nn.Linear(128, 16)
        )

    def forward(self, x):
        return self.layers(x)


class ResidualMlp(nn.Module):
    """Sums with linear layers, with relu and without."""

    def __init__(self):
        super().__init__()
        self.first, self.second, self.third = (nn.Linear(48, 48) for _ in range(3))

    def forward(self, x):
        x = F.relu(self.first(x) + x)
        x = self.second(F.gelu(x, approximate="tanh")) + x
        return self.third(x)


class Attention(nn.Module):
    """A layer of a transformer; its projections are linear layers of three dimensions."""

    def __init__(self):
        super().__init__()
        self.norm, self.norm2 = nn.LayerNorm(64), nn.LayerNorm(64)
        self.q, self.k, self.v, self.out = (nn.Linear(64, 64) for _ in range(4))
        self.up, self.down = nn.Linear(64, 256), nn.Linear(256, 64)

    def forward(self, x):
        y = self.norm(x)
        q, k, v = (f(y).unflatten(-1, (4, 16)).transpose(1, 2) for f in (self.q, self.k, self.v))
        weights = torch.softmax(q @ k.transpose(-1, -2) / 4, -1)
        x = x + self.out((weights @ v).transpose(1, 2).flatten(-2))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.norm1 = nn.Conv2d(3, 16, 3, 2, 1, bias=False), nn.BatchNorm2d(16)
        self.conv2, self.norm2 = nn.Conv2d(16, 32, 3, padding=1, bias=False), nn.BatchNorm2d(32)
        self.linear = nn.Linear(32, 10)

    def forward(self, x):
        x = F.relu(self.norm1(self.conv1(x)))
        x = F.relu(self.norm2(self.conv2(x)))
        return self.linear(F.adaptive_avg_pool2d(x, 1).flatten(1))


class Pooled(nn.Module):
    """Pooling of integers between convolutions."""

    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 8, 5), nn.Conv2d(8, 16, 3)
        self.linear1, self.linear2 = nn.Linear(16, 32), nn.Linear(32, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return self.linear2(F.relu(self.linear1(x.mean((2, 3)))))


class Residual(nn.Module):
    """Blocks of a ResNet: sums with convolutions, with relu and a convolution in the shortcut."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 16, 3, padding=1)
        self.a, self.b = nn.Conv2d(16, 16, 3, padding=1), nn.Conv2d(16, 16, 3, padding=1)
        self.c, self.d = nn.Conv2d(16, 32, 3, 2, 1), nn.Conv2d(32, 32, 3, padding=1)
        self.shortcut = nn.Conv2d(16, 32, 1, 2)

    def forward(self, x):
        x = F.relu(self.stem(x))
        x = F.relu(self.b(F.relu(self.a(x))) + x)
        x = F.relu(self.d(F.relu(self.c(x))) + self.shortcut(x))
        return x.mean((2, 3))


class Inverted(nn.Module):
    """A block of a MobileNet: depthwise, with hardtanh and hardswish."""

    def __init__(self):
        super().__init__()
        self.expand, self.project = nn.Conv2d(8, 32, 1), nn.Conv2d(32, 8, 1)
        self.depthwise = nn.Conv2d(32, 32, 3, padding=1, groups=32)
        self.head = nn.Conv2d(8, 16, 1)

    def forward(self, x):
        y = F.relu6(self.expand(x))
        y = F.hardswish(self.depthwise(y))
        return F.silu(self.head(self.project(y) + x))


class Branches(nn.Module):
    """Convolutions of one input, joined; groups and dilation."""

    def __init__(self):
        super().__init__()
        self.narrow, self.wide = nn.Conv2d(8, 8, 1), nn.Conv2d(8, 8, 3, padding=2, dilation=2)
        self.groups, self.last = nn.Conv2d(16, 16, 3, padding=1, groups=4), nn.Conv2d(16, 4, 1)

    def forward(self, x):
        x = torch.cat([F.relu(self.narrow(x)), F.relu(self.wide(x))], 1)
        return self.last(F.relu(self.groups(x)))


@dataclass(frozen=True)
class Int8Model:
    make: type[nn.Module]
    shape: tuple[int, ...]
    operators: int  # quantized linear layers and convolutions

    def model(self, device="cpu", train=False):
        """Return the model with the same weights at each call, and normalizations that have seen data."""
        torch.manual_seed(0)
        model = self.make()
        for module in model.modules():
            if isinstance(module, nn.BatchNorm2d):
                module.running_mean.normal_(0, 0.1)
                module.running_var.uniform_(0.5, 1.5)
        return model.train(train).to(device)

    def inputs(self, device="cpu", count=3):
        """Return batches; channels of images are last, without which the CPU's sums are errors."""
        generator = torch.Generator().manual_seed(1)
        batches = [torch.randn(self.shape, generator=generator).to(device) for _ in range(count)]
        if len(self.shape) < 4:
            return batches
        return [x.to(memory_format=torch.channels_last) for x in batches]


LINEAR = {
    "mlp": Int8Model(Mlp, (12, 64), 3),
    "residual mlp": Int8Model(ResidualMlp, (9, 48), 3),
    "attention": Int8Model(Attention, (2, 10, 64), 6),
}
CONVOLUTIONS = {
    "convnet": Int8Model(ConvNet, (2, 3, 20, 20), 3),
    "pooled": Int8Model(Pooled, (2, 1, 24, 24), 4),
    "residual": Int8Model(Residual, (2, 3, 12, 12), 6),
    "inverted": Int8Model(Inverted, (2, 8, 10, 10), 4),
    "branches": Int8Model(Branches, (2, 8, 11, 11), 4),
}
MODELS = LINEAR | CONVOLUTIONS
