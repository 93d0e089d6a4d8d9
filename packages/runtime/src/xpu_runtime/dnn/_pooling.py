"""Pooling over windows."""

from __future__ import annotations

from collections.abc import Sequence

from .._native import C
from .._stream import Stream, current_stream
from ..array import Array, empty
from ._convolution import Sizes, each, empty_like_layout


def pool(
    src: Array,
    kernel: Sizes,
    *,
    kind: str = "max",
    dst: Array | None = None,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    padding_r: Sizes | None = None,
    dilation: Sizes = 1,
    workspace: Array | None = None,
    stream: Stream | None = None,
) -> Array:
    """Return the "max", the "average", or the "average_inside" (padding not counted) of each window.

    `workspace`, from pool_workspace(), receives what the backward of max pooling needs.
    """
    stream = stream or current_stream(src.device)
    geometry = _geometry(len(src.shape) - 2, kernel, stride, padding, padding_r, dilation)
    if dst is None:
        dst = empty_like_layout(_output_shape(src.shape, geometry), src, src.dtype, stream)
    C.pool(stream, src, dst, kind, geometry, workspace)
    return dst


def pool_workspace(dst: Array, stream: Stream | None = None) -> Array:
    """Return memory for the workspace of a max pooling whose result is like `dst`."""
    return empty(dst.shape, "i32", stream)


def pool_backward(
    grad_dst: Array,
    grad_src: Array,
    kernel: Sizes,
    *,
    kind: str = "max",
    stride: Sizes | None = None,
    padding: Sizes = 0,
    padding_r: Sizes | None = None,
    dilation: Sizes = 1,
    workspace: Array | None = None,
    stream: Stream | None = None,
) -> Array:
    """Write the gradient by the source into `grad_src`, which gives its shape and layout."""
    stream = stream or current_stream(grad_dst.device)
    geometry = _geometry(len(grad_src.shape) - 2, kernel, stride, padding, padding_r, dilation)
    C.pool_backward(stream, grad_dst, grad_src, kind, geometry, workspace)
    return grad_src


def _geometry(
    spatial: int,
    kernel: Sizes,
    stride: Sizes | None,
    padding: Sizes,
    padding_r: Sizes | None,
    dilation: Sizes,
) -> list[list[int]]:
    window = each(kernel, spatial, "kernel")
    left = each(padding, spatial, "padding")
    return [
        window,
        window if stride is None else each(stride, spatial, "stride"),
        left,
        left if padding_r is None else each(padding_r, spatial, "padding_r"),
        each(dilation, spatial, "dilation"),
    ]


def _output_shape(shape: Sequence[int], geometry: Sequence[list[int]]) -> tuple[int, ...]:
    sizes = [
        max(0, (size + left + right - dilation * (window - 1) - 1) // max(step, 1) + 1)
        for size, window, step, left, right, dilation in zip(shape[2:], *geometry, strict=True)
    ]
    return (*shape[:2], *sizes)
