"""A parameter on xpu and one on the CPU, trained by torchao's low-bit Adam with the same gradients."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn
from torchao.optim import Adam4bit, Adam8bit, AdamFp8, AdamW4bit, AdamW8bit, AdamWFp8, _AdamW

from ao_xpu.training import optimizers

QUANTIZED = [Adam8bit, AdamW8bit, Adam4bit, AdamW4bit, AdamFp8, AdamWFp8]
EVERY = [*QUANTIZED, _AdamW]
MOMENTS = ("exp_avg", "exp_avg_sq", "max_exp_avg_sq")
SIZE = (64, 128)


@contextmanager
def uncompiled_steps() -> Iterator[None]:
    """Run as it is written what torchao compiles on the CPU; fail if a step on xpu was unfused."""
    optimizers._unfused.clear()
    with torch.compiler.set_stance("force_eager"):
        yield
    assert not optimizers.unfused_steps()


def parts(moment):
    """Return a moment's tensors on the host. fp8 becomes float, because fp8 has two patterns for NaN."""
    names = [name for name in ("codes", "scale") if hasattr(moment, name)]
    found = [getattr(moment, name).cpu() for name in names] or [moment.cpu()]
    return [t.float() if t.dtype == torch.float8_e4m3fn else t for t in found]


def assert_moments_equal(got, expected):
    for name in MOMENTS:
        assert (name in got) == (name in expected)
        if name in got:
            for ours, theirs in zip(parts(got[name]), parts(expected[name]), strict=True):
                torch.testing.assert_close(ours, theirs, rtol=0, atol=0, equal_nan=True)


class Pair:
    """One parameter on each device with an optimizer of its own, stepped by the same gradients."""

    def __init__(self, kind, start, **options):
        self.cpu, self.xpu = (nn.Parameter(start.clone().to(d)) for d in ("cpu", "xpu"))
        self.optimizers = [kind([p], **options) for p in (self.cpu, self.xpu)]

    def step(self, grad, on_xpu=None):
        self.cpu.grad = grad
        self.xpu.grad = grad.to("xpu") if on_xpu is None else on_xpu
        for optimizer in self.optimizers:
            optimizer.step()

    @property
    def states(self):
        expected, got = (
            o.state[p] for o, p in zip(self.optimizers, (self.cpu, self.xpu), strict=True)
        )
        return got, expected

    def check(self, rtol=1e-5, atol=2e-6):
        assert_moments_equal(*self.states)
        ours = self.xpu.detach().cpu()
        torch.testing.assert_close(ours, self.cpu.detach(), rtol=rtol, atol=atol, equal_nan=True)


def gradient(step, size=SIZE):
    torch.manual_seed(100 + step)
    return torch.randn(size) * torch.randn(size).mul(3).exp()
