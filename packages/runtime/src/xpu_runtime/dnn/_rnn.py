"""Recurrent networks."""

from __future__ import annotations

from .._native import C
from .._stream import Stream, current_stream
from ..array import Array, empty
from ..errors import UsageError


def rnn(
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
) -> Array:
    """Run all layers and directions of an LSTM, GRU or plain network in one call.

    src is T N C; weights are L D I G O; bias L D G O; states L D N O. `kind` is "lstm" (gates i f c o),
    "gru" or "gru_linear_before_reset" (u r o, and a fourth bias), "tanh" or "relu"; `direction` is
    "forward", "backward", "both_concat" or "both_sum". `state` and `cell` receive the last states.
    """
    stream = stream or current_stream(src.device)
    if dst is None:
        dst = empty_result(src, weights_layer, direction, stream)
    C.rnn(
        stream,
        src,
        weights_layer,
        weights_iter,
        bias,
        state0,
        cell0,
        dst,
        state,
        cell,
        kind,
        direction,
    )
    return dst


def empty_result(src: Array, weights_layer: Array, direction: str, stream: Stream) -> Array:
    """Return memory for the result of a network."""
    if len(src.shape) != 3 or len(weights_layer.shape) != 5:
        raise UsageError(
            f"rnn: expected a source T N C and weights L D I G O; got {src.shape} and {weights_layer.shape}"
        )
    channels = weights_layer.shape[-1] * (2 if direction == "both_concat" else 1)
    return empty((*src.shape[:2], channels), src.dtype, stream)
