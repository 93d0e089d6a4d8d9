"""A small model with most of what packages hold: weights, sizes that vary, products, a check of indices."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import nn


class Model(nn.Module):
    """Looks words up, mixes their features and returns scores."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(3)
        self.words = nn.Parameter(torch.randn(50, 32))
        self.norm = nn.LayerNorm(32)
        self.up = nn.Linear(32, 64)
        self.down = nn.Linear(64, 16)
        self.register_buffer("shift", torch.randn(16))

    def forward(
        self, words: torch.Tensor, scale: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return scores, and a number for each word."""
        x = self.words[words]
        hidden = torch.nn.functional.gelu(self.up(self.norm(x)))
        # An operator that makes a tensor on the device.
        left, right = torch.tril_indices(8, 8, -1, device=words.device)
        pairs = (x[:, left] * x[:, right]).mean(-1)
        return self.down(hidden).softmax(-1) * scale + self.shift, x.sum(-1) + pairs


def inputs(count: int, device: str = "xpu") -> tuple[torch.Tensor, torch.Tensor]:
    """Return inputs of so many words."""
    generator = torch.Generator().manual_seed(count)
    words = torch.randint(50, (count,), generator=generator)
    return words.to(device), torch.rand(16, generator=generator).to(device)


def write(path: Path, **options: Any) -> Model:
    """Compile the model into a package; return the model, on xpu."""
    model = Model().to("xpu").eval()
    count = torch.export.Dim("count", min=2, max=5000)
    with torch.no_grad():
        program = torch.export.export(model, inputs(16), dynamic_shapes=({0: count}, None))
        torch._inductor.aoti_compile_and_package(
            program, package_path=str(path), inductor_configs=options
        )
    return model
