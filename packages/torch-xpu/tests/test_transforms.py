"""Function transforms, fake tensors and export, over operators of xpu."""

import copy

import pytest
import torch
from torch import func, nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.nn.attention import SDPBackend, sdpa_kernel

pytestmark = [pytest.mark.values, pytest.mark.filterwarnings("ignore")]


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.project = nn.LayerNorm(16), nn.Linear(16, 48)

    def forward(self, x):
        q, k, v = self.project(self.norm(x)).unflatten(-1, (3, 2, 8)).permute(2, 0, 3, 1, 4)
        return x + nn.functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(-2)


NETS = {
    "linear": (lambda: nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 4)), (5, 8)),
    "convolution": (
        lambda: nn.Sequential(nn.Conv2d(3, 8, 3), nn.GroupNorm(2, 8), nn.SiLU(), nn.MaxPool2d(2)),
        (2, 3, 8, 8),
    ),
    "attention": (Attention, (2, 6, 16)),
}
each_net = pytest.mark.parametrize("name", NETS)


def made(name: str, dtype=torch.float32):
    """The net and its input on both devices."""
    make, shape = NETS[name]
    torch.manual_seed(0)
    net, x = make().to(dtype), torch.randn(shape, dtype=dtype)
    return (net, x), (copy.deepcopy(net).to("xpu"), x.to("xpu"))


def loss(net, parameters, x):
    return func.functional_call(net, parameters, (x,)).square().mean()


@each_net
def test_gradients_of_gradients(name):
    _, (net, x) = made(name, torch.float64)
    x = x[:1].requires_grad_()
    assert torch.autograd.gradcheck(net, (x,))
    assert torch.autograd.gradgradcheck(net, (x,))


@each_net
def test_a_gradient_for_each_sample(name):
    """vmap over grad, as in differential privacy."""

    def of_each(net, x):
        parameters = {k: v.detach() for k, v in net.named_parameters()}
        each = func.vmap(func.grad(lambda p, one: loss(net, p, one[None])), in_dims=(None, 0))
        return each(parameters, x)

    cpu, xpu = made(name)
    with sdpa_kernel(SDPBackend.MATH):  # fused attention has no rule for batches of batches
        expected, got = of_each(*cpu), of_each(*xpu)
    for key, value in expected.items():
        torch.testing.assert_close(got[key].cpu(), value, rtol=1e-4, atol=1e-5)


@each_net
def test_forward_mode(name):
    cpu, xpu = made(name)
    results = []
    for net, x in (cpu, xpu):
        with sdpa_kernel(SDPBackend.MATH):  # nor has it a forward derivative, on any device
            results.append([t.cpu() for t in func.jvp(net, (x,), (x.sign(),))])
    torch.testing.assert_close(results[1], results[0], rtol=1e-4, atol=1e-5)


@each_net
def test_fake_tensors_have_the_real_ones_layout(name):
    _, (net, x) = made(name)
    real = net(x)
    with FakeTensorMode(allow_non_fake_inputs=True) as mode:
        fake = net(mode.from_tensor(x))
    assert (fake.shape, fake.stride(), fake.dtype, fake.device) == (
        real.shape,
        real.stride(),
        real.dtype,
        real.device,
    )


@each_net
def test_an_exported_program_computes_the_same(name):
    _, (net, x) = made(name)
    program = torch.export.export(net, (x,))
    torch.testing.assert_close(program.module()(x), net(x))


def test_a_hessian():
    x = torch.linspace(-1, 1, 5)
    f = lambda t: (t.sin() * t.exp()).sum()  # noqa: E731
    torch.testing.assert_close(func.hessian(f)(x.to("xpu")).cpu(), func.hessian(f)(x))


def test_opcheck_of_our_operators():
    x = torch.randn(4, 6, device="xpu", requires_grad=True)
    torch.library.opcheck(torch.ops.aten.native_layer_norm.default, (x, [6], None, None, 1e-5))
    torch.library.opcheck(torch.ops.aten._softmax.default, (x, 1, False))
    torch.library.opcheck(torch.ops.aten.mm.default, (x, x.t().detach()))
