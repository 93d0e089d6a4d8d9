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


def fp8_values(bits, dtype):
    """What bytes of e4m3fn or e5m2 stand for."""
    exponent_bits, bias = {"f8e4m3": (4, 7), "f8e5m2": (5, 15)}[dtype]
    mantissa_bits = 7 - exponent_bits
    bits = np.asarray(bits, np.int64)
    exponent, mantissa = (
        bits >> mantissa_bits & (1 << exponent_bits) - 1,
        bits & (1 << mantissa_bits) - 1,
    )
    fraction = mantissa / (1 << mantissa_bits)
    value = np.where(
        exponent == 0, fraction * 2.0 ** (1 - bias), (1 + fraction) * 2.0 ** (exponent - bias)
    )
    return np.where(bits & 0x80, -value, value)


def pack_int4(values):
    """Two in a byte, the low half first."""
    flat = np.asarray(values).reshape(-1).astype(np.int64) & 15
    flat = np.pad(flat, (0, flat.size % 2))
    return (flat[::2] | flat[1::2] << 4).astype(np.uint8)


def place(xr, values, dtype, channels_last):
    """On the device, row-major or with channels last."""
    if not channels_last:
        return xr.from_numpy(values, dtype)
    axes = (0, *range(2, values.ndim), 1)
    back = (0, values.ndim - 1, *range(1, values.ndim - 1))
    return xr.from_numpy(np.ascontiguousarray(values.transpose(axes)), dtype).transpose(*back)


def fetch(array):
    """To the host from either layout."""
    if array.contiguous:
        return array.numpy()
    axes = (0, *range(2, len(array.shape)), 1)
    return np.moveaxis(array.transpose(*axes).numpy(), -1, 1)
