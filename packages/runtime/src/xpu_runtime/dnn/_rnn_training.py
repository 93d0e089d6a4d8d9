"""Recurrent networks that learn: a forward that keeps what its backward needs, and the backward."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from .._native import C
from .._stream import Stream, current_stream
from ..array import Array, empty
from ._rnn import empty_result


@dataclass(frozen=True)
class RnnForward:
    """A forward whose backward is still to come: its tensors, and the workspace it filled."""

    src: Array
    weights_layer: Array
    weights_iter: Array
    bias: Array
    dst: Array
    state0: Array | None
    cell0: Array | None
    state: Array | None
    cell: Array | None
    kind: str
    direction: str
    workspace: Array
    sizes: tuple[int, int, int]  #: what C.rnn_workspace said

    @property
    def tensors(self) -> tuple[Array | None, ...]:
        """In the order of the native functions."""
        first = (self.src, self.weights_layer, self.weights_iter, self.bias, self.dst)
        return (*first, self.state0, self.cell0, self.state, self.cell)


class RnnGradients(NamedTuple):
    """By what the forward read; None where it had none."""

    src: Array
    weights_layer: Array
    weights_iter: Array
    bias: Array
    state0: Array | None
    cell0: Array | None


def rnn_training(
    src: Array,
    weights_layer: Array,
    weights_iter: Array,
    bias: Array,
    *,
    kind: str = "lstm",
    direction: str = "forward",
    state0: Array | None = None,
    cell0: Array | None = None,
    dst: Array | None = None,
    state: Array | None = None,
    cell: Array | None = None,
    stream: Stream | None = None,
) -> RnnForward:
    """rnn() that keeps each step's gates and states for rnn_backward(); the result is its `dst`.

    PyTorch's GRU is "gru_linear_before_reset" with its gates reordered from r u o and, for u and r, the
    two biases added; its LSTM has the gates in this order. xpu/dnn/rnn.h says more.
    """
    stream = stream or current_stream(src.device)
    if dst is None:
        dst = empty_result(src, weights_layer, direction, stream)
    tensors = (src, weights_layer, weights_iter, bias, dst, state0, cell0, state, cell)
    sizes = C.rnn_workspace(stream.device, tensors, kind, direction)
    workspace = empty(sizes[0], "u8", stream)
    C.rnn_training(stream, tensors, kind, direction, sizes, workspace)
    return RnnForward(*tensors, kind, direction, workspace, sizes)


def rnn_backward(
    forward: RnnForward,
    grad_dst: Array | None,
    grad_state: Array | None = None,
    grad_cell: Array | None = None,
    *,
    stream: Stream | None = None,
) -> RnnGradients:
    """Return the gradients of everything the forward read, from those of its results; None is zeros.

    By the candidate that did the forward, whose workspace no other can read. It may be called again.
    """
    stream = stream or current_stream(forward.src.device)

    def like(of: Array) -> Array:
        return empty(of.shape, of.dtype, stream)

    grads = RnnGradients(
        like(forward.src),
        like(forward.weights_layer),
        like(forward.weights_iter),
        like(forward.bias),
        None if forward.state0 is None else like(forward.state0),
        None if forward.cell0 is None else like(forward.cell0),
    )
    C.rnn_backward(
        stream,
        forward.tensors,
        forward.kind,
        forward.direction,
        forward.sizes,
        forward.workspace,
        (grad_dst, grad_state, grad_cell, *grads),
    )
    return grads
