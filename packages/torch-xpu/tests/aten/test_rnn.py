"""Recurrent networks: results and gradients of every parameter, against the CPU."""

import copy

import pytest
import torch
from torch import nn

pytestmark = pytest.mark.values

NETWORKS = {
    "lstm": lambda: nn.LSTM(5, 7),
    "two lstms": lambda: nn.LSTM(5, 7, num_layers=2, bidirectional=True, batch_first=True),
    "lstm without biases": lambda: nn.LSTM(5, 7, bias=False),
    "gru": lambda: nn.GRU(5, 7),
    "gru without biases": lambda: nn.GRU(5, 7, bias=False, bidirectional=True),
    "tanh": lambda: nn.RNN(5, 7),
    "relu": lambda: nn.RNN(5, 7, nonlinearity="relu"),
}


def gradients(network, x, device):
    x = x.to(device).requires_grad_()
    out, state = network(x)
    last = state[1] if isinstance(state, tuple) else state
    return [
        out,
        last,
        *torch.autograd.grad(out.square().sum() + last.sum(), (x, *network.parameters())),
    ]


@pytest.mark.parametrize("name", NETWORKS)
def test_against_the_cpu(name):
    torch.manual_seed(0)
    network, x = NETWORKS[name](), torch.randn(6, 3, 5)
    expected = gradients(network, x, "cpu")
    got = gradients(copy.deepcopy(network).to("xpu"), x, "xpu")
    for ours, theirs in zip(got, expected, strict=True):
        torch.testing.assert_close(ours.cpu(), theirs, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("without_gradients", [torch.no_grad, torch.inference_mode])
@pytest.mark.parametrize("name", NETWORKS)
def test_without_gradients(name, without_gradients, dtype):
    torch.manual_seed(0)
    network, x = NETWORKS[name](), torch.randn(6, 3, 5)
    with without_gradients():
        expected = network(x)
        got = network.to("xpu", dtype)(x.to("xpu", dtype))
    tolerance = 1e-4 if dtype == torch.float32 else 5e-2
    for ours, theirs in zip(
        torch.utils._pytree.tree_leaves(got),
        torch.utils._pytree.tree_leaves(expected),
        strict=True,
    ):
        assert ours.dtype == dtype
        torch.testing.assert_close(ours.cpu().float(), theirs, rtol=tolerance, atol=tolerance)


@pytest.mark.filterwarnings("ignore:The tensor attributes:UserWarning")
@pytest.mark.parametrize("gradients", [True, False])
def test_export(gradients):
    network, x = nn.LSTM(5, 7).to("xpu"), torch.randn(6, 3, 5, device="xpu")
    with torch.set_grad_enabled(gradients):
        exported = torch.export.export(network, (x,)).module()
        torch.testing.assert_close(exported(x)[0], network(x)[0])


@pytest.mark.parametrize("make", [nn.LSTMCell, nn.GRUCell, nn.RNNCell])
def test_cells(make):
    torch.manual_seed(0)
    cell, x = make(5, 7), torch.randn(3, 5)
    on_device = copy.deepcopy(cell).to("xpu")
    for ours, theirs in zip(
        torch.utils._pytree.tree_leaves(on_device(x.to("xpu"))),
        torch.utils._pytree.tree_leaves(cell(x)),
        strict=True,
    ):
        torch.testing.assert_close(ours.cpu(), theirs)
