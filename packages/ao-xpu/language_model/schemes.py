"""Schemes by which SmolLM2 is quantized, by name. Groups of 64 divide its rows of 576 and 1536 elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

GROUP = 64


def schemes() -> dict[str, Callable[[], Any] | None]:
    """Return factories of configs; None leaves the weights as they are."""
    from torchao import quantization as q
    from torchao.prototype import mx_formats as mx

    def int4(packing: str, choice: str = "tinygemm") -> Callable[[], Any]:
        return lambda: q.Int4WeightOnlyConfig(
            group_size=GROUP, int4_packing_format=packing, int4_choose_qparams_algorithm=choice
        )

    rows = q.PerRow()
    return {
        "bf16": None,
        "int8 weights": q.Int8WeightOnlyConfig,
        "int8 dynamic": q.Int8DynamicActivationInt8WeightConfig,
        "fp8 weights": q.Float8WeightOnlyConfig,
        "fp8 rows": lambda: q.Float8DynamicActivationFloat8WeightConfig(granularity=rows),
        "int4 plain": int4("plain"),
        "int4 plain_int32": int4("plain_int32"),
        "int4 plain_int32, HQQ": int4("plain_int32", "hqq"),
        "int4 tile_packed_to_4d": int4("tile_packed_to_4d"),
        "int4 under fp8": lambda: q.Float8DynamicActivationInt4WeightConfig(
            group_size=GROUP, int4_packing_format="plain"
        ),
        "mxfp8": mx.MXDynamicActivationMXWeightConfig,
        "nvfp4 weights": mx.NVFP4WeightOnlyConfig,
    }
