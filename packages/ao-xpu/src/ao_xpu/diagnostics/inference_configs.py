"""torchao's configs for inference, which `try_configs` tries."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import torch

PACKING_FORMATS = ("plain", "preshuffled", "plain_int32", "tile_packed_to_4d")
HQQ_FORMATS = ("plain", "plain_int32", "tile_packed_to_4d")


class Candidate(NamedTuple):
    """A config as a program writes it, its factory, and the alternative where it is rejected."""

    name: str
    make: Callable[[], Any]
    alternative: str = ""


def candidates() -> Iterator[Candidate]:
    """Yield all configs."""
    yield from _int4()
    yield from _integers()
    yield from _float8()
    yield from _block_formats()
    yield from _others()


def _int4() -> Iterator[Candidate]:
    from torchao import quantization as q

    for packing in PACKING_FORMATS:
        yield Candidate(
            f'Int4WeightOnlyConfig(int4_packing_format="{packing}")',
            partial(q.Int4WeightOnlyConfig, int4_packing_format=packing),
        )
    for packing in HQQ_FORMATS:
        yield Candidate(
            f'Int4WeightOnlyConfig(int4_packing_format="{packing}", '
            'int4_choose_qparams_algorithm="hqq")',
            partial(
                q.Int4WeightOnlyConfig,
                int4_packing_format=packing,
                int4_choose_qparams_algorithm="hqq",
            ),
            'int4_packing_format="plain_int32"',
        )
    yield Candidate(
        "Float8DynamicActivationInt4WeightConfig()", q.Float8DynamicActivationInt4WeightConfig
    )


def _integers() -> Iterator[Candidate]:
    from torchao import quantization as q

    for config in (
        q.Int8WeightOnlyConfig,
        q.Int8DynamicActivationInt8WeightConfig,
        q.Int8DynamicActivationIntxWeightConfig,
        q.IntxWeightOnlyConfig,
    ):
        yield Candidate(f"{config.__name__}()", config)
    yield Candidate(
        "IntxWeightOnlyConfig(torch.int3, PerGroup(128))",
        partial(q.IntxWeightOnlyConfig, torch.int3, q.PerGroup(128)),
    )


def _float8() -> Iterator[Candidate]:
    from torchao import quantization as q
    from torchao.quantization.granularity import PerBlock

    dynamic = q.Float8DynamicActivationFloat8WeightConfig
    blocks = [PerBlock([1, 128]), PerBlock([128, 128])]
    yield Candidate("Float8WeightOnlyConfig()", q.Float8WeightOnlyConfig)
    yield Candidate(f"{dynamic.__name__}()", dynamic)
    yield Candidate(
        f"{dynamic.__name__}(granularity=PerRow())", partial(dynamic, granularity=q.PerRow())
    )
    yield Candidate(
        f"{dynamic.__name__}(granularity=[PerBlock([1, 128]), PerBlock([128, 128])])",
        partial(dynamic, granularity=blocks),
    )


def _block_formats() -> Iterator[Candidate]:
    from torchao.prototype import mx_formats as mx
    from torchao.quantization.quantize_.common import KernelPreference

    def float4(**options: Any) -> Any:
        dtype = torch.float4_e2m1fn_x2
        return mx.MXDynamicActivationMXWeightConfig(
            activation_dtype=dtype, weight_dtype=dtype, **options
        )

    name = "MXDynamicActivationMXWeightConfig()"
    yield Candidate(name, mx.MXDynamicActivationMXWeightConfig)
    yield Candidate(f"{name} of float4", float4, "kernel_preference=KernelPreference.EMULATED")
    yield Candidate(
        f"{name} of float4, emulated",
        partial(float4, kernel_preference=KernelPreference.EMULATED),
    )
    yield Candidate("NVFP4WeightOnlyConfig()", mx.NVFP4WeightOnlyConfig)
    yield Candidate(
        "NVFP4DynamicActivationNVFP4WeightConfig()",
        mx.NVFP4DynamicActivationNVFP4WeightConfig,
        "NVFP4WeightOnlyConfig()",
    )


def _others() -> Iterator[Candidate]:
    from torchao.prototype.quantization.quant_api import UIntxWeightOnlyConfig
    from torchao.sparsity.sparse_api import SemiSparseWeightConfig

    yield Candidate("UIntxWeightOnlyConfig()", UIntxWeightOnlyConfig)
    yield Candidate(
        "SemiSparseWeightConfig()", SemiSparseWeightConfig, "apply_fake_sparsity(model) first"
    )
