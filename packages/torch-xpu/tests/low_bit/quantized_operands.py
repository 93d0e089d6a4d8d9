"""Operands of quantized layers, and how their results are compared."""

import torch
import xpu_runtime.trace

ops = torch.ops.onednn
X_SCALE, X_ZERO, OUT_SCALE, OUT_ZERO = 0.02, 117, 0.6, 9


def integers(generator, dtype, *shape):
    info = torch.iinfo(dtype)
    return torch.randint(info.min, info.max + 1, shape, dtype=dtype, generator=generator)


def weight_of(generator, *shape, per_channel=True):
    """Return a weight, its scales and its zero points."""
    count = shape[0] if per_channel else 1
    scales = torch.rand(count, generator=generator) * 0.02 + 0.001
    weight = integers(generator, torch.int8, *shape)
    if not torch.cpu._is_vnni_supported():
        # The CPU's operators are the reference. They add two products in 16 bits, where larger sums saturate.
        weight //= 2
    return weight, scales, torch.zeros(count, dtype=torch.int64)


def result_arguments(dtype):
    return (OUT_SCALE, OUT_ZERO, dtype) if not dtype.is_floating_point else (1.0, 0, dtype)


def on_xpu(arguments):
    return [x.xpu() if isinstance(x, torch.Tensor) else x for x in arguments]


def assert_results(got, expected):
    """Integers may be rounded to the neighbor."""
    assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
    got, expected = got.cpu(), expected.to_dense() if expected.is_mkldnn else expected
    if got.dtype.is_floating_point:
        tolerance = 1e-2 if got.dtype == torch.bfloat16 else 2e-5
        size = expected.float().abs().max().item()
        torch.testing.assert_close(got, expected, rtol=tolerance, atol=tolerance * max(size, 1))
        return
    difference = (got.int() - expected.int()).abs()
    assert difference.max() <= 1
    assert (difference > 0).float().mean() < 0.01


def primitives(work):
    """Return how many primitives of oneDNN a function runs."""
    xpu_runtime.trace.start()
    try:
        work()
        torch.xpu.synchronize()
    finally:
        records = xpu_runtime.trace.stop()
    return sum(str(record.name).startswith("onednn ") for record in records)
