"""The configs that are measured, by name."""

from __future__ import annotations

import os
from typing import Any

# torchao's own libraries are for other versions of PyTorch, of which it would warn.
os.environ.setdefault("TORCHAO_FORCE_SKIP_LOADING_SO_FILES", "1")


def config(name: str) -> Any:
    """Return a new config."""
    from torchao import quantization as q

    return {
        "int4": lambda: q.Int4WeightOnlyConfig(group_size=128),
        "int8 weight-only": q.Int8WeightOnlyConfig,
        "fp8 weight-only": q.Float8WeightOnlyConfig,
        "int8 dynamic": q.Int8DynamicActivationInt8WeightConfig,
        "fp8 row": lambda: q.Float8DynamicActivationFloat8WeightConfig(granularity=q.PerRow()),
    }[name]()
