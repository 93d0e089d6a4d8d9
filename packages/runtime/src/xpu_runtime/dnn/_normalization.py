"""Normalizations, softmax and reorders."""

from __future__ import annotations

from .._native import C
from .._stream import Stream, current_stream
from ..array import Array
from ._common import Operand, Quantization
from ._convolution import empty_like_layout


def layer_norm(
    x: Array,
    weight: Array | None = None,
    bias: Array | None = None,
    *,
    epsilon: float = 1e-5,
    out: Array | None = None,
    mean: Array | None = None,
    variance: Array | None = None,
    stream: Stream | None = None,
) -> Array:
    """Return `(x - mean) / sqrt(variance + epsilon) * weight + bias` over the last dimension.

    `mean` and `variance`, f32 of the shape of x less its last dimension, are written when given.
    """
    stream = stream or current_stream(x.device)
    out = out or empty_like_layout(x.shape, x, x.dtype, stream)
    C.layer_norm(stream, x, out, weight, bias, mean, variance, epsilon)
    return out


def batch_norm(
    x: Array,
    mean: Array,
    variance: Array,
    weight: Array | None = None,
    bias: Array | None = None,
    *,
    training: bool = False,
    epsilon: float = 1e-5,
    out: Array | None = None,
    stream: Stream | None = None,
) -> Array:
    """Normalize each channel of N C ...; with `training`, mean and variance are computed and written."""
    stream = stream or current_stream(x.device)
    out = out or empty_like_layout(x.shape, x, x.dtype, stream)
    C.batch_norm(stream, x, out, weight, bias, mean, variance, epsilon, training)
    return out


def softmax(
    x: Array,
    axis: int = -1,
    *,
    log: bool = False,
    out: Array | None = None,
    stream: Stream | None = None,
) -> Array:
    """Return softmax along one axis, or its logarithm."""
    stream = stream or current_stream(x.device)
    out = out or empty_like_layout(x.shape, x, x.dtype, stream)
    C.softmax(stream, x, out, axis, log)
    return out


def reorder(
    src: Operand,
    dst: Array,
    *,
    src_quantization: Quantization | None = None,
    dst_quantization: Quantization | None = None,
    stream: Stream | None = None,
) -> Array:
    """Copy into another layout or type, dequantizing and quantizing on the way."""
    C.reorder(stream or current_stream(src.device), src, dst, src_quantization, dst_quantization)
    return dst
