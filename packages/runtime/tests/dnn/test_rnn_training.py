"""Gradients of recurrent networks by every candidate against numpy in float64."""

import numpy as np
import pytest
from dnn_reference import assert_close, check, rounded
from rnn_reference import DIRECTIONS, GATES, KINDS, gradients, reference
from xpu_testing import values_checked

pytestmark = pytest.mark.usefixtures("device")

CANDIDATES = [pytest.param("onednn", marks=pytest.mark.onednn_matmul), "sycl"]
EACH_CANDIDATE = pytest.mark.parametrize("candidate", CANDIDATES)
NAMES = ["src", "weights_layer", "weights_iter", "bias", "state0", "cell0"]


class Network:
    """Inputs and gradients of results, in float64 but representable in `dtype`."""

    def __init__(self, rng, kind, direction, layers, dtype="f32", steps=5, batch=3, channels=16):
        self.kind, self.direction, self.dtype = kind, direction, dtype
        outputs = channels * (2 if direction == "both_concat" else 1)
        inputs = outputs if layers > 1 else 12
        ld = (layers, 2 if direction.startswith("both") else 1)
        states = (*ld, batch, channels)
        gates = GATES[kind]

        def random(*shape, scale=1.0):
            return rounded(rng.standard_normal(shape) * scale, dtype)

        self.x = random(steps, batch, inputs)
        self.w = random(*ld, inputs, gates, channels, scale=0.3)
        self.u = random(*ld, channels, gates, channels, scale=0.3)
        self.b = random(*ld, gates + (kind == "gru_linear_before_reset"), channels)
        self.h0, self.c0 = random(*states), random(*states)
        self.grads = [random(steps, batch, outputs), random(*states), random(*states)]

    @property
    def lstm(self):
        return self.kind == "lstm"

    def forget_states(self):
        """As when none are given."""
        self.h0, self.c0 = np.zeros_like(self.h0), np.zeros_like(self.c0)
        self.grads[1:] = np.zeros_like(self.h0), np.zeros_like(self.h0)

    def inputs(self):
        return self.x, self.w, self.u, self.b, self.h0, self.c0

    def forward(self, xr, states=True):
        def send(values, dtype=self.dtype):
            return xr.from_numpy(values, dtype)

        lstm = self.lstm and states
        return xr.dnn.rnn_training(
            send(self.x),
            send(self.w),
            send(self.u),
            send(self.b, "f32"),
            kind=self.kind,
            direction=self.direction,
            state0=send(self.h0) if states else None,
            cell0=send(self.c0, "f32") if lstm else None,
            state=xr.empty(self.h0.shape, self.dtype) if states else None,
            cell=xr.empty(self.c0.shape) if lstm else None,
        )

    def backward(self, xr, forward, states=True):
        dst, state, cell = (xr.from_numpy(g, "f32") for g in self.grads)
        states_too = (state if states else None, cell if self.lstm and states else None)
        return xr.dnn.rnn_backward(forward, dst, *states_too)

    def expected(self):
        return gradients(self.kind, self.direction, *self.inputs(), *self.grads)


@pytest.mark.parametrize("states", [False, True])
@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("kind", KINDS)
@EACH_CANDIDATE
def test_gradients(xr, rng, candidate, kind, direction, layers, states):
    network = Network(rng, kind, direction, layers)
    if not states:
        network.forget_states()
    with xr.dnn.only_candidate(candidate):
        forward = network.forward(xr, states)
        got = network.backward(xr, forward, states)
    result = reference(kind, direction, *network.inputs())
    made = [forward.dst, forward.state, forward.cell]
    for array, expected in zip(made, result, strict=True):
        if array is not None:
            assert_close(array.numpy().astype(float), expected, rtol=1e-4, atol=1e-5)
    for name, array, expected in zip(NAMES, got, network.expected(), strict=True):
        assert (array is None) == (
            "0" in name and not (states and ("c" not in name or network.lstm))
        )
        if array is not None:
            assert_close(array.numpy().astype(float), expected, rtol=2e-4, atol=2e-4)


@EACH_CANDIDATE
@pytest.mark.parametrize("kind", KINDS)
def test_the_last_state_alone(xr, rng, candidate, kind):
    """As in a classifier, which reads no other result: the gradients of dst and of the cell are zeros."""
    network = Network(rng, kind, "both_concat", 2)
    network.grads[0] *= 0
    network.grads[2] *= 0
    with xr.dnn.only_candidate(candidate):
        forward = network.forward(xr)
        got = xr.dnn.rnn_backward(forward, None, xr.from_numpy(network.grads[1], "f32"))
    for array, expected in zip(got, network.expected(), strict=True):
        if array is not None:
            assert_close(array.numpy().astype(float), expected, rtol=2e-4, atol=2e-4)


@EACH_CANDIDATE
def test_any_strides(xr, rng, candidate):
    """A result's gradient as sum() leaves it, weights the other way round, and batches before steps."""
    network = Network(rng, "lstm", "forward", 1)
    network.forget_states()
    network.grads[0][:] = 2.5
    x = xr.from_numpy(network.x.transpose(1, 0, 2).copy(), "f32").transpose(1, 0, 2)
    w, u = (
        xr.from_numpy(v.transpose(0, 1, 3, 4, 2).copy(), "f32").transpose(0, 1, 4, 2, 3)
        for v in (network.w, network.u)
    )
    one = xr.from_numpy(np.full(1, 2.5), "f32")
    with xr.dnn.only_candidate(candidate):
        forward = xr.dnn.rnn_training(x, w, u, xr.from_numpy(network.b, "f32"))
        got = xr.dnn.rnn_backward(forward, one.view(forward.dst.shape, (0, 0, 0)))
    for array, expected in zip(got[:4], network.expected(), strict=False):
        assert_close(array.numpy().astype(float), expected, rtol=2e-4, atol=2e-4)


@EACH_CANDIDATE
@pytest.mark.parametrize("kind", ["lstm", "gru_linear_before_reset", "tanh"])
def test_repeatable(xr, rng, candidate, kind):
    """The backward leaves the workspace as it was, and sums in one order."""
    network = Network(rng, kind, "both_sum", 2)
    with xr.dnn.only_candidate(candidate):
        forward = network.forward(xr)
        first, second = network.backward(xr, forward), network.backward(xr, forward)
        third = network.backward(xr, network.forward(xr))
    for arrays in zip(first, second, third, strict=True):
        if arrays[0] is not None:
            a, b, c = (array.numpy() for array in arrays)
            assert_close(b, a)
            assert_close(c, a)


@pytest.mark.parametrize("dtype", ["bf16", "f16"])
@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "relu"])
def test_16_bits(xr, rng, kind, layers, dtype):
    """By whichever candidate takes it. Not relu, whose gradient jumps where rounding changes a sign."""
    network = Network(rng, kind, "both_concat", layers, dtype)
    got = network.backward(xr, network.forward(xr))
    for array, expected in zip(got, network.expected(), strict=True):
        if array is not None:
            # Steps round what they hand on: several times the error of one number.
            check(array.numpy() / 8, expected / 8, dtype)


def test_the_plain_kernels_workspace_grows_with_steps_times_channels(xr, rng):
    def workspace(**sizes):
        with xr.dnn.only_candidate("sycl"):
            return Network(rng, "lstm", "forward", 1, **sizes).forward(xr).workspace.nbytes

    assert workspace(steps=8, channels=32) == 4 * workspace(steps=4, channels=16)


@pytest.mark.onednn_matmul
def test_only_the_candidate_of_the_forward_does_the_backward(xr, rng):
    network = Network(rng, "lstm", "forward", 1)
    with xr.dnn.only_candidate("sycl"):
        forward = network.forward(xr)
    network.backward(xr, forward)
    assert any("sycl" in line and line.endswith(": used") for line in xr.dnn.explain())
    with xr.dnn.only_candidate("onednn"), pytest.raises(xr.Unsupported, match="candidate sycl"):
        network.backward(xr, forward)


@EACH_CANDIDATE
def test_a_network_learns(xr, rng, candidate):
    """Steepest descent on the sum of squares: the way a framework uses the two calls."""
    network = Network(rng, "gru_linear_before_reset", "forward", 2)
    network.forget_states()
    losses = []
    with xr.dnn.only_candidate(candidate):
        for _ in range(5):
            forward = network.forward(xr, states=False)
            result = forward.dst.numpy().astype(float)
            losses.append((result**2).sum())
            network.grads[0] = 2 * result
            got = network.backward(xr, forward, states=False)
            network.w -= 1e-3 * got.weights_layer.numpy()
            network.u -= 1e-3 * got.weights_iter.numpy()
            network.b -= 1e-3 * got.bias.numpy()
    assert not values_checked() or losses == sorted(losses, reverse=True)


def test_wrong_input(xr):
    src, w, u, b = (
        xr.zeros(s) for s in [(4, 2, 8), (1, 1, 8, 4, 8), (1, 1, 8, 4, 8), (1, 1, 4, 8)]
    )
    forward = xr.dnn.rnn_training(src, w, u, b)
    with pytest.raises(xr.UsageError, match="the gradient of dst is"):
        xr.dnn.rnn_backward(forward, xr.zeros((4, 2, 9)))
    with pytest.raises(xr.UsageError, match="gradient of state, which the forward had not"):
        xr.dnn.rnn_backward(forward, None, xr.zeros((1, 1, 2, 8)))
    with pytest.raises(xr.UsageError, match="nothing to train with"):
        xr.dnn.rnn_training(xr.zeros((0, 2, 8)), w, u, b)


def test_the_process_may_end_before_the_backward(child):
    child(
        """
        import xpu_runtime as xr

        src, bias = xr.zeros((100, 32, 128)), xr.zeros((1, 1, 4, 128))
        weights = xr.zeros((1, 1, 128, 4, 128))
        forward = xr.dnn.rnn_training(src, weights, weights, bias)
        for _ in range(3):
            xr.dnn.rnn_backward(forward, forward.dst)
        """
    ).check()
