"""Train a small residual network on images, in f16 with a gradient scaler.

    python train_images.py [--device xpu] [--steps 100] [--size 32]

The images are drawn: a class is a place and an orientation of stripes.
"""

import argparse
import math

import torch
from torch import nn
from torch.nn import functional as F

CLASSES = 8


class Residual(nn.Module):
    def __init__(self, narrow: int, wide: int, stride: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(narrow, wide, 3, stride, 1, bias=False)
        self.second = nn.Conv2d(wide, wide, 3, 1, 1, bias=False)
        self.norms = nn.ModuleList(nn.BatchNorm2d(wide) for _ in range(2))
        self.short = (
            nn.Identity() if stride == 1 and narrow == wide else nn.Conv2d(narrow, wide, 1, stride)
        )

    def forward(self, x):
        y = F.relu(self.norms[0](self.first(x)))
        return F.relu(self.norms[1](self.second(y)) + self.short(x))


def network() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 32, 3, 1, 1),
        Residual(32, 32, 1),
        Residual(32, 64, 2),
        Residual(64, 128, 2),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(128, CLASSES),
    )


class Stripes(torch.utils.data.IterableDataset):
    """Endless images of u8, [height, width, 3] as files give them."""

    def __init__(self, size: int) -> None:
        self.size = size

    def __iter__(self):
        draw = torch.Generator().manual_seed(torch.initial_seed() % 2**31)
        line = torch.linspace(-1, 1, self.size)
        y, x = torch.meshgrid(line, line, indexing="ij")
        while True:
            kind = int(torch.randint(CLASSES, (), generator=draw))
            angle = math.pi * kind / CLASSES
            phase = 6 * torch.rand((), generator=draw)
            wave = torch.sin(9 * (x * math.cos(angle) + y * math.sin(angle)) + phase)
            image = wave[..., None] + 0.5 * torch.randn(self.size, self.size, 3, generator=draw)
            yield (image * 40 + 128).clamp(0, 255).to(torch.uint8), kind


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--device", default="xpu")
    options.add_argument("--steps", type=int, default=100)
    options.add_argument("--size", type=int, default=32)
    options = options.parse_args()

    torch.manual_seed(0)
    net = network().to(options.device, memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, nesterov=True)
    scaler = torch.amp.GradScaler(options.device)
    batches = torch.utils.data.DataLoader(
        Stripes(options.size), batch_size=32, pin_memory=options.device != "cpu"
    )
    right = seen = 0
    for step, (images, kinds) in zip(range(options.steps), batches, strict=False):
        images, kinds = (t.to(options.device, non_blocking=True) for t in (images, kinds))
        x = images.permute(0, 3, 1, 2).float().div(255)
        with torch.autocast(options.device, torch.float16):
            scores = net(x)
            loss = F.cross_entropy(scores, kinds)
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        right = 0.9 * right + (scores.argmax(1) == kinds).sum()
        seen = 0.9 * seen + len(kinds)
        if step % 10 == 0 or step == options.steps - 1:
            print(f"step {step:3d}  loss {loss.item():.3f}  right {(right / seen).item():.2f}")


if __name__ == "__main__":
    main()
