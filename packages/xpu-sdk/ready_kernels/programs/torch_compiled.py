"""Blocks of networks under torch.compile, with the width of GPT-2: the kernels have it as a constant."""

from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

HEAD = 64


class Block(nn.Module):
    """A block of attention and a perceptron."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.heads = width // HEAD
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the block's output."""
        h = self.qkv(self.norms[0](x)).view(*x.shape[:2], 3, self.heads, HEAD)
        q, k, v = (t.transpose(1, 2) for t in h.unbind(2))
        h = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(h.transpose(1, 2).reshape(x.shape))
        return x + self.down(F.gelu(self.up(self.norms[1](x)), approximate="tanh"))


def gpt2(width: int) -> nn.Module:
    """Return the block of transformers, which drops no numbers."""
    # Its import uses the device, which must not happen before the fork.
    from transformers.models.gpt2.modeling_gpt2 import GPT2Block, GPT2Config

    sizes = {"n_embd": width, "n_head": width // HEAD}
    config = GPT2Config(**sizes, resid_pdrop=0, attn_pdrop=0, attn_implementation="sdpa")
    return GPT2Block(config, layer_idx=0)


def run(make: Callable[[int], nn.Module], width: int, dtype: torch.dtype) -> None:
    """Ask a compiled block, then train it."""
    block = make(width).to("xpu", dtype)
    x = torch.randn(2, 16, width).to("xpu", dtype)
    compiled = torch.compile(block)
    with torch.inference_mode():
        compiled(x)
    out = compiled(x)
    out = out[0] if isinstance(out, tuple) else out
    out.square().mean().backward()
    torch.xpu.synchronize()


WIDTH = 768  # GPT-2's
CASES = {
    f"{make.__name__} in {dtype}": partial(run, make, WIDTH, dtype)
    for make in (Block, gpt2)
    for dtype in (torch.float32, torch.bfloat16)
}
