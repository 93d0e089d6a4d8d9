"""Recurrent networks by every candidate against numpy in float64."""

import numpy as np
import pytest
from dnn_reference import assert_close
from rnn_reference import DIRECTIONS, GATES, KINDS, reference

pytestmark = pytest.mark.usefixtures("device")

CANDIDATES = [pytest.param("onednn", marks=pytest.mark.onednn_matmul), "sycl"]


@pytest.mark.parametrize("states", [False, True])
@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("candidate", CANDIDATES)
def test_network(xr, rng, candidate, kind, direction, layers, states):
    steps, batch, channels = 5, 3, 16
    both = direction.startswith("both")
    inputs = channels * (2 if direction == "both_concat" else 1) if layers > 1 else 12
    ld = (layers, 2 if both else 1)
    x = rng.standard_normal((steps, batch, inputs))
    w = rng.standard_normal((*ld, inputs, GATES[kind], channels)) * 0.3
    u = rng.standard_normal((*ld, channels, GATES[kind], channels)) * 0.3
    b = rng.standard_normal((*ld, GATES[kind] + (kind == "gru_linear_before_reset"), channels))
    h0, c0 = (rng.standard_normal((*ld, batch, channels)) * states for _ in range(2))
    lstm = kind == "lstm"
    state, cell = xr.empty(h0.shape), xr.empty(c0.shape) if lstm else None

    def send(values):
        return xr.from_numpy(values, "f32")

    with xr.dnn.only_candidate(candidate):
        dst = xr.dnn.rnn(
            send(x),
            send(w),
            send(u),
            send(b),
            kind=kind,
            direction=direction,
            state0=send(h0) if states else None,
            cell0=send(c0) if states and lstm else None,
            state=state,
            cell=cell,
        )
    expected, last, last_cell = reference(kind, direction, x, w, u, b, h0, c0)
    assert_close(dst.numpy().astype(float), expected, rtol=1e-4, atol=1e-5)
    assert_close(state.numpy().astype(float), last, rtol=1e-4, atol=1e-5)
    if lstm:
        assert_close(cell.numpy().astype(float), last_cell, rtol=1e-4, atol=1e-5)


def test_bf16(xr, rng):
    x, w, u = (rng.standard_normal(s) * 0.3 for s in [(4, 2, 8), (1, 1, 8, 4, 8), (1, 1, 8, 4, 8)])
    b = np.zeros((1, 1, 4, 8))
    dst = xr.dnn.rnn(*(xr.from_numpy(v, "bf16") for v in (x, w, u)), xr.from_numpy(b, "f32"))
    zeros = np.zeros((1, 1, 2, 8))
    assert_close(
        dst.numpy().astype(float),
        reference("lstm", "forward", x, w, u, b, zeros, zeros)[0],
        atol=0.02,
    )


def test_wrong_input(xr):
    src, w, u, b = (
        xr.zeros((4, 2, 8)),
        xr.zeros((1, 1, 8, 4, 8)),
        xr.zeros((1, 1, 8, 4, 8)),
        xr.zeros((1, 1, 4, 8)),
    )
    with pytest.raises(xr.UsageError, match="weights_iter is"):
        xr.dnn.rnn(src, w, xr.zeros((1, 1, 8, 3, 8)), b)
    with pytest.raises(xr.UsageError, match="only an LSTM"):
        xr.dnn.rnn(
            src,
            xr.zeros((1, 1, 8, 1, 8)),
            xr.zeros((1, 1, 8, 1, 8)),
            xr.zeros((1, 1, 1, 8)),
            kind="tanh",
            cell=b,
        )
    with pytest.raises(xr.UsageError, match="expected one of lstm"):
        xr.dnn.rnn(src, w, u, b, kind="elman")
