"""Trials of torchao's configs on this machine: each quantizes a small layer, whose results are judged."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field

import torch

from .inference_configs import Candidate, candidates

# The minimum ratio of signal to noise, in decibels, of a layer of Gaussian numbers in 4 bits.
MIN_RATIO = 10.0


@dataclass(frozen=True)
class Trial:
    """Whether a config works: its ratio of signal to noise; or why it does not, and an alternative."""

    config: str
    works: bool
    ratio: float | None = None
    reason: str = ""
    alternative: str = ""
    fallbacks: dict[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        if self.works:
            return f"{self.config}: works, {self.ratio:.0f} dB"
        alternative = f"; alternative: {self.alternative}" if self.alternative else ""
        return f"{self.config}: rejected, {self.reason}{alternative}"


class Trials(list[Trial]):
    """The trials of all configs; its text has a line for each."""

    def __str__(self) -> str:
        return "\n".join(map(str, self))


def try_configs() -> Trials:
    """Return a trial of each inference config. Operators that ran on the host are in ``fallbacks``."""
    return Trials(map(try_config, candidates()))


def try_config(candidate: Candidate) -> Trial:
    """Quantize a small layer by the config, and compare its results with those of the floats."""
    import torch_xpu
    from torchao.quantization import quantize_

    name, alternative = candidate.name, candidate.alternative
    generator = torch.Generator().manual_seed(0)
    weight = torch.randn(128, 1024, generator=generator) / 32
    x = torch.randn(16, 1024, generator=generator)
    layer = torch.nn.Linear(1024, 128, bias=False, dtype=torch.bfloat16, device="xpu")
    layer.weight = torch.nn.Parameter(weight.to("xpu", torch.bfloat16), requires_grad=False)
    before = torch_xpu.fallbacks()
    try:
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            quantize_(layer, candidate.make())
            got = layer(x.to("xpu", torch.bfloat16)).cpu().double()
    except Exception as error:  # noqa: BLE001 - whatever a config raises is what the user is told
        reason = str(error).partition("\n")[0] or type(error).__name__
        return Trial(name, False, reason=reason, alternative=alternative)
    host = {op: n for op, n in torch_xpu.fallbacks().items() if n > before.get(op, 0)}
    if type(layer.weight) is torch.nn.Parameter:
        return Trial(name, False, reason="the layer stays as it was", alternative=alternative)
    exact = x.double() @ weight.double().t()
    ratio = 20 * torch.log10(exact.norm() / (got - exact).norm()).item()
    if not ratio > MIN_RATIO:
        reason = f"wrong results: {ratio:.0f} dB"
        return Trial(name, False, ratio, reason, alternative, host)
    return Trial(name, True, ratio, fallbacks=host)
