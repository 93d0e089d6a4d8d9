"""Trials of torchao's configs on this machine: each quantizes a small layer, whose results are judged."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch

# The minimum ratio of signal to noise, in decibels, of a layer of Gaussian numbers that 4 bits keep rightly.
MIN_RATIO = 10.0


@dataclass(frozen=True)
class Trial:
    """Whether a config works: its ratio of signal to noise; or why it does not, and what to use instead."""

    config: str
    works: bool
    ratio: float | None = None
    reason: str = ""
    instead: str = ""
    fallbacks: dict[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        if self.works:
            return f"{self.config}: works, {self.ratio:.0f} dB"
        use = f"; instead: {self.instead}" if self.instead else ""
        return f"{self.config}: refused, {self.reason}{use}"


class Diagnosis(list[Trial]):
    """The trials of all configs; its text has a line for each."""

    def __str__(self) -> str:
        return "\n".join(map(str, self))


def doctor() -> Diagnosis:
    """Return a trial of each inference config. Operators that ran on the host are in ``fallbacks``."""
    return Diagnosis(_try(*entry) for entry in _configs())


def _try(name: str, make: Callable[[], Any], instead: str = "") -> Trial:
    import torch_xpu
    from torchao.quantization import quantize_

    generator = torch.Generator().manual_seed(0)
    weight = torch.randn(128, 1024, generator=generator) / 32
    x = torch.randn(16, 1024, generator=generator)
    layer = torch.nn.Linear(1024, 128, bias=False, dtype=torch.bfloat16, device="xpu")
    layer.weight = torch.nn.Parameter(weight.to("xpu", torch.bfloat16), requires_grad=False)
    before = torch_xpu.fallbacks()
    try:
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            quantize_(layer, make())
            got = layer(x.to("xpu", torch.bfloat16)).cpu().double()
    except Exception as error:  # noqa: BLE001 - whatever a config raises is what the user is told
        reason = str(error).partition("\n")[0] or type(error).__name__
        return Trial(name, False, reason=reason, instead=instead)
    host = {op: n for op, n in torch_xpu.fallbacks().items() if n > before.get(op, 0)}
    if type(layer.weight) is torch.nn.Parameter:
        return Trial(name, False, reason="the layer stays as it was", instead=instead)
    exact = x.double() @ weight.double().t()
    ratio = 20 * torch.log10(exact.norm() / (got - exact).norm()).item()
    if not ratio > MIN_RATIO:
        reason = f"wrong results: {ratio:.0f} dB"
        return Trial(name, False, ratio, reason, instead, host)
    return Trial(name, True, ratio, fallbacks=host)


def _configs() -> list[tuple[Any, ...]]:
    """Return name, factory, and what to use where it is refused."""
    from torchao import quantization as q
    from torchao.prototype import mx_formats as mx
    from torchao.quantization.granularity import PerBlock
    from torchao.quantization.quantize_.common import KernelPreference

    emulated = KernelPreference.EMULATED
    float4 = torch.float4_e2m1fn_x2

    def uintx() -> Any:
        from torchao.prototype.quantization.quant_api import UIntxWeightOnlyConfig

        return UIntxWeightOnlyConfig()

    def semi_sparse() -> Any:
        from torchao.sparsity.sparse_api import SemiSparseWeightConfig

        return SemiSparseWeightConfig()

    int4 = [
        (
            f'Int4WeightOnlyConfig(int4_packing_format="{packing}")',
            lambda packing=packing: q.Int4WeightOnlyConfig(int4_packing_format=packing),
        )
        for packing in ("plain", "preshuffled", "plain_int32", "tile_packed_to_4d")
    ]
    hqq = [
        (
            f'Int4WeightOnlyConfig(int4_packing_format="{packing}", '
            'int4_choose_qparams_algorithm="hqq")',
            lambda packing=packing: q.Int4WeightOnlyConfig(
                int4_packing_format=packing, int4_choose_qparams_algorithm="hqq"
            ),
            'int4_packing_format="plain_int32"',
        )
        for packing in ("plain", "plain_int32", "tile_packed_to_4d")
    ]
    return [
        *int4,
        *hqq,
        ("Float8DynamicActivationInt4WeightConfig()", q.Float8DynamicActivationInt4WeightConfig),
        ("Int8WeightOnlyConfig()", q.Int8WeightOnlyConfig),
        ("Int8DynamicActivationInt8WeightConfig()", q.Int8DynamicActivationInt8WeightConfig),
        ("Int8DynamicActivationIntxWeightConfig()", q.Int8DynamicActivationIntxWeightConfig),
        ("IntxWeightOnlyConfig()", q.IntxWeightOnlyConfig),
        (
            "IntxWeightOnlyConfig(torch.int3, PerGroup(128))",
            lambda: q.IntxWeightOnlyConfig(torch.int3, q.PerGroup(128)),
        ),
        ("Float8WeightOnlyConfig()", q.Float8WeightOnlyConfig),
        (
            "Float8DynamicActivationFloat8WeightConfig()",
            q.Float8DynamicActivationFloat8WeightConfig,
        ),
        (
            "Float8DynamicActivationFloat8WeightConfig(granularity=PerRow())",
            lambda: q.Float8DynamicActivationFloat8WeightConfig(granularity=q.PerRow()),
        ),
        (
            "Float8DynamicActivationFloat8WeightConfig("
            "granularity=[PerBlock([1, 128]), PerBlock([128, 128])])",
            lambda: q.Float8DynamicActivationFloat8WeightConfig(
                granularity=[PerBlock([1, 128]), PerBlock([128, 128])]
            ),
        ),
        ("MXDynamicActivationMXWeightConfig()", mx.MXDynamicActivationMXWeightConfig),
        (
            "MXDynamicActivationMXWeightConfig() of float4",
            lambda: mx.MXDynamicActivationMXWeightConfig(
                activation_dtype=float4, weight_dtype=float4
            ),
            "kernel_preference=KernelPreference.EMULATED",
        ),
        (
            "MXDynamicActivationMXWeightConfig() of float4, emulated",
            lambda: mx.MXDynamicActivationMXWeightConfig(
                activation_dtype=float4, weight_dtype=float4, kernel_preference=emulated
            ),
        ),
        ("NVFP4WeightOnlyConfig()", mx.NVFP4WeightOnlyConfig),
        (
            "NVFP4DynamicActivationNVFP4WeightConfig()",
            mx.NVFP4DynamicActivationNVFP4WeightConfig,
            "NVFP4WeightOnlyConfig()",
        ),
        ("UIntxWeightOnlyConfig()", uintx),
        ("SemiSparseWeightConfig()", semi_sparse, "apply_fake_sparsity(model) first"),
    ]
