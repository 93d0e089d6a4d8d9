"""What the dnn tests compare with and how closely."""

import numpy as np
from xpu_testing import assert_close

from xpu_runtime.array import bf16_bits, bf16_values

TOLERANCE = {"f32": 1e-5, "f64": 1e-13, "bf16": 8e-3, "f16": 1e-3}
NUMPY = {"f16": np.float16, "f32": np.float32, "f64": np.float64}


def rounded(values, dtype):
    """What is left of `values` once stored as `dtype`, as float64."""
    stored = bf16_values(bf16_bits(values)) if dtype == "bf16" else values.astype(NUMPY[dtype])
    return stored.astype(np.float64)


def check(got, expected, dtype):
    """Close to the float64 reference, by the type's precision relative to the largest value."""
    scale = np.abs(expected).max() + 1
    assert_close(
        got.astype(np.float64), expected, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype] * scale
    )
