"""The inference configs that ao-xpu serves, and what their results are compared with, as one table."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import reference
import torch
from torchao.prototype.mx_formats import (
    MXDynamicActivationMXWeightConfig,
    NVFP4DynamicActivationNVFP4WeightConfig,
    NVFP4WeightOnlyConfig,
)
from torchao.prototype.quantization import UIntxWeightOnlyConfig
from torchao.quantization import (
    Float8DynamicActivationFloat8WeightConfig,
    Float8DynamicActivationInt4WeightConfig,
    Float8WeightOnlyConfig,
    Int4WeightOnlyConfig,
    Int8DynamicActivationInt8WeightConfig,
    Int8DynamicActivationIntxWeightConfig,
    Int8WeightOnlyConfig,
    IntxWeightOnlyConfig,
    PerGroup,
    PerRow,
    PerTensor,
)
from torchao.quantization.granularity import PerBlock
from torchao.quantization.quant_primitives import MappingType

BF16, F16, F32 = torch.bfloat16, torch.float16, torch.float32


@dataclass(frozen=True)
class Scheme:
    """``quantize`` and ``quantize_input`` are the reference; without them it is torchao on the CPU."""

    name: str
    config: Callable[[], Any]
    dtypes: tuple[torch.dtype, ...] = (BF16, F16, F32)
    quantize: Callable[[torch.Tensor], torch.Tensor] | None = None
    quantize_input: Callable[[torch.Tensor], torch.Tensor] | None = None


def int4(packing, algorithm="tinygemm", group=64):
    return lambda: Int4WeightOnlyConfig(
        group_size=group,
        int4_packing_format=packing,
        int4_choose_qparams_algorithm=algorithm,
    )


def mx(dtype):
    return lambda: MXDynamicActivationMXWeightConfig(activation_dtype=dtype, weight_dtype=dtype)


float_zero = partial(reference.float_zero, group=64)
integer_zero = partial(reference.integer_zero, group=64)

SCHEMES = (
    Scheme(
        "int4 as it comes",
        Int4WeightOnlyConfig,
        (BF16, F16, F32),
        partial(reference.float_zero, group=128),
    ),
    Scheme("int4 plain", int4("plain"), (BF16, F16, F32), float_zero),
    Scheme("int4 preshuffled", int4("preshuffled"), (BF16, F16), float_zero),
    Scheme("int4 plain_int32", int4("plain_int32"), (BF16, F16), integer_zero),
    Scheme("int4 tile_packed", int4("tile_packed_to_4d"), (BF16,), float_zero),
    Scheme("HQQ plain_int32", int4("plain_int32", "hqq"), (BF16, F16), float_zero),
    Scheme("HQQ tile_packed", int4("tile_packed_to_4d", "hqq"), (BF16,), float_zero),
    Scheme(
        "float8 int4 as it comes",
        Float8DynamicActivationInt4WeightConfig,
        (BF16,),
        partial(reference.two_scales, group=128),
        reference.e4m3_rows,
    ),
    Scheme(
        "float8 int4 plain",
        lambda: Float8DynamicActivationInt4WeightConfig(int4_packing_format="plain"),
        (BF16, F16),
        partial(reference.symmetric, group=128),
        reference.e4m3_rows,
    ),
    Scheme("int8 rows", Int8WeightOnlyConfig),
    Scheme("int8 tensor", lambda: Int8WeightOnlyConfig(granularity=PerTensor()), (BF16,)),
    Scheme("int8 groups", lambda: Int8WeightOnlyConfig(granularity=PerGroup(32)), (BF16, F16)),
    Scheme("int8 dynamic", Int8DynamicActivationInt8WeightConfig),
    Scheme(
        "int8 dynamic asymmetric",
        lambda: Int8DynamicActivationInt8WeightConfig(act_mapping_type=MappingType.ASYMMETRIC),
        (BF16,),
    ),
    Scheme("float8 rows", Float8WeightOnlyConfig),
    Scheme("float8 e5m2", lambda: Float8WeightOnlyConfig(weight_dtype=torch.float8_e5m2), (BF16,)),
    Scheme(
        "float8 dynamic rows",
        lambda: Float8DynamicActivationFloat8WeightConfig(granularity=PerRow()),
        (BF16,),
    ),
    Scheme("float8 dynamic tensor", Float8DynamicActivationFloat8WeightConfig, (BF16, F16)),
    Scheme(
        "float8 blocks",
        lambda: Float8DynamicActivationFloat8WeightConfig(
            granularity=[PerBlock([1, 128]), PerBlock([128, 128])]
        ),
        (BF16,),
        partial(reference.e4m3_blocks, rows=128, columns=128),
        partial(reference.e4m3_blocks, rows=1, columns=128),
    ),
    Scheme("mxfp8 dynamic", mx(torch.float8_e4m3fn), (BF16,), reference.mxfp8, reference.mxfp8),
    Scheme("mxfp4 dynamic", mx(torch.float4_e2m1fn_x2), (BF16,), reference.mxfp4, reference.mxfp4),
    Scheme("nvfp4", NVFP4WeightOnlyConfig, (BF16, F32), reference.nvfp4),
    Scheme(
        "nvfp4 dynamic",
        NVFP4DynamicActivationNVFP4WeightConfig,
        (BF16, F32),
        reference.nvfp4,
        reference.nvfp4,
    ),
    Scheme("int4 of intx", lambda: IntxWeightOnlyConfig(torch.int4, PerGroup(32))),
    Scheme("int3 of intx", lambda: IntxWeightOnlyConfig(torch.int3, PerGroup(64)), (BF16,)),
    Scheme(
        "uintx",
        lambda: UIntxWeightOnlyConfig(set_inductor_config=False),
        (BF16, F16, F32),
        partial(reference.float_zero, group=128),
    ),
    Scheme(
        "uintx of 8 bits",
        lambda: UIntxWeightOnlyConfig(group_size=None, bit_width=8, set_inductor_config=False),
        (F16, F32),
        partial(reference.intx, bits=8),
    ),
    Scheme(
        "int8 dynamic intx",
        lambda: Int8DynamicActivationIntxWeightConfig(weight_dtype=torch.int4),
        (BF16,),
    ),
)
CASES = [(scheme, dtype) for scheme in SCHEMES for dtype in scheme.dtypes]
