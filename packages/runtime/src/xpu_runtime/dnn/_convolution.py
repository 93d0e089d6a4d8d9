"""Convolutions and their gradients."""

from __future__ import annotations

from collections.abc import Sequence

from .._native import C
from .._stream import Stream, current_stream
from ..array import Array, empty
from ..errors import UsageError
from ._common import PostOp, Quantization

Sizes = int | Sequence[int]


def each(value: Sizes, spatial: int, name: str) -> list[int]:
    """Return one number for each spatial dimension, from one for all or one for each."""
    values = [value] * spatial if isinstance(value, int) else list(value)
    if len(values) != spatial:
        raise UsageError(
            f"{name}: got {len(values)} values, expected one for each of the {spatial} spatial dimensions"
        )
    return values


def empty_like_layout(shape: Sequence[int], like: Array, dtype: str, stream: Stream) -> Array:
    """Return an array whose dimensions lie in memory in the order of `like`'s."""
    order = sorted(range(len(shape)), key=lambda d: (-like.strides[d], d))
    flat = empty([shape[d] for d in order], dtype, stream)
    inverse = [order.index(d) for d in range(len(shape))]
    return flat.transpose(*inverse)


def convolution(
    src: Array,
    weights: Array,
    dst: Array | None = None,
    *,
    stride: Sizes = 1,
    padding: Sizes = 0,
    padding_r: Sizes | None = None,
    dilation: Sizes = 1,
    groups: int = 1,
    transposed: bool = False,
    bias: Array | None = None,
    post_ops: Sequence[PostOp] = (),
    src_quantization: Quantization | None = None,
    weights_quantization: Quantization | None = None,
    dst_quantization: Quantization | None = None,
    dtype: str | None = None,
    deterministic: bool = False,
    allow_tf32: bool = False,
    stream: Stream | None = None,
) -> Array:
    """Return `post_ops(src * weights + bias)` for shapes N C [D [H]] W.

    Weights are O I/groups K..., and I O/groups K... when transposed.

    `padding` is on the left, and on the right too unless `padding_r` is given (a transposed convolution's
    output padding is padding - padding_r).
    """
    stream = stream or current_stream(src.device)
    geometry = _geometry(len(src.shape) - 2, stride, padding, padding_r, dilation)
    if dst is None:
        shape = _output_shape(src, weights, geometry, groups, transposed)
        dst = empty_like_layout(
            shape, src, dtype or ("i32" if src.dtype in ("u8", "i8") else src.dtype), stream
        )
    C.convolution(
        stream,
        src,
        weights,
        dst,
        geometry,
        groups,
        transposed,
        bias,
        post_ops,
        src_quantization,
        weights_quantization,
        dst_quantization,
        deterministic,
        allow_tf32,
    )
    return dst


def convolution_backward_data(
    grad_dst: Array,
    weights: Array,
    grad_src: Array,
    *,
    stride: Sizes = 1,
    padding: Sizes = 0,
    padding_r: Sizes | None = None,
    dilation: Sizes = 1,
    groups: int = 1,
    transposed: bool = False,
    deterministic: bool = False,
    allow_tf32: bool = False,
    stream: Stream | None = None,
) -> Array:
    """Write the gradient by the source into `grad_src`, which gives its shape and layout."""
    stream = stream or current_stream(grad_dst.device)
    geometry = _geometry(len(grad_src.shape) - 2, stride, padding, padding_r, dilation)
    C.convolution_backward_data(
        stream, grad_dst, weights, grad_src, geometry, groups, transposed, deterministic, allow_tf32
    )
    return grad_src


def convolution_backward_weights(
    src: Array,
    grad_dst: Array,
    grad_weights: Array,
    grad_bias: Array | None = None,
    *,
    stride: Sizes = 1,
    padding: Sizes = 0,
    padding_r: Sizes | None = None,
    dilation: Sizes = 1,
    groups: int = 1,
    transposed: bool = False,
    deterministic: bool = False,
    allow_tf32: bool = False,
    stream: Stream | None = None,
) -> Array:
    """Write the gradient by the weights into `grad_weights`, and by the bias into `grad_bias` when given."""
    stream = stream or current_stream(grad_dst.device)
    geometry = _geometry(len(src.shape) - 2, stride, padding, padding_r, dilation)
    C.convolution_backward_weights(
        stream,
        src,
        grad_dst,
        grad_weights,
        grad_bias,
        geometry,
        groups,
        transposed,
        deterministic,
        allow_tf32,
    )
    return grad_weights


def _geometry(
    spatial: int, stride: Sizes, padding: Sizes, padding_r: Sizes | None, dilation: Sizes
) -> tuple[list[int], list[int], list[int], list[int]]:
    left = each(padding, spatial, "padding")
    right = left if padding_r is None else each(padding_r, spatial, "padding_r")
    return each(stride, spatial, "stride"), left, right, each(dilation, spatial, "dilation")


def _output_shape(
    src: Array, weights: Array, geometry: Sequence[list[int]], groups: int, transposed: bool
) -> tuple[int, ...]:
    if len(src.shape) != len(weights.shape) or len(src.shape) < 3:
        raise UsageError(
            "convolution: expected N C [D [H]] W, three to five dimensions everywhere; "
            f"got {src.shape} and {weights.shape}"
        )
    sizes = []
    for d, (stride, left, right, dilation) in enumerate(zip(*geometry, strict=True)):
        reach, size = dilation * (weights.shape[2 + d] - 1) + 1, src.shape[2 + d]
        if transposed:
            sizes.append((size - 1) * stride + reach - left - right)
        else:
            sizes.append((size + left + right - reach) // max(stride, 1) + 1)
    channels = weights.shape[1] * groups if transposed else weights.shape[0]
    if any(size < 0 for size in sizes):
        raise UsageError(
            f"convolution: a window of {weights.shape[2:]} does not fit into {src.shape[2:]}"
        )
    return (src.shape[0], channels, *sizes)
