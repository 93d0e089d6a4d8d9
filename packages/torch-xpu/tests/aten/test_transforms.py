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
    """The function is vmap over grad, as in differential privacy."""

    def of_each(net, x):
        parameters = {k: v.detach() for k, v in net.named_parameters()}
        each = func.vmap(func.grad(lambda p, one: loss(net, p, one[None])), in_dims=(None, 0))
        return each(parameters, x)

    cpu, xpu = made(name)
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


def test_a_hessian_of_gated_units():
    x = torch.linspace(-2, 2, 6)
    f = lambda t: nn.functional.glu(t, 0).square().sum()  # noqa: E731
    torch.testing.assert_close(func.hessian(f)(x.to("xpu")).cpu(), func.hessian(f)(x))


def test_opcheck_of_our_operators():
    x = torch.randn(4, 6, device="xpu", requires_grad=True)
    torch.library.opcheck(torch.ops.aten.native_layer_norm.default, (x, [6], None, None, 1e-5))
    torch.library.opcheck(torch.ops.aten._softmax.default, (x, 1, False))
    torch.library.opcheck(torch.ops.aten.mm.default, (x, x.t().detach()))


def attend(q, k, v, mask=None, **options):
    return nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, **options)


def gradients_of(function):
    return func.grad(lambda *t: function(*t).square().sum(), (0, 1, 2))


MAPPED = {
    "all": lambda q, k, v, m: func.vmap(attend)(q, k, v),
    "some": lambda q, k, v, m: func.vmap(attend, (1, None, 0), 2)(q.movedim(0, 1), k[0], v),
    "a mask each": lambda q, k, v, m: func.vmap(attend)(q, k, v, m),
    "one mask": lambda q, k, v, m: func.vmap(lambda *t: attend(*t, mask=m[0]))(q, k, v),
    "shared heads": lambda q, k, v, m: func.vmap(lambda *t: attend(*t, enable_gqa=True))(
        q, k[:, :, :2], v[:, :, :2]
    ),
    "three dimensions": lambda q, k, v, m: func.vmap(attend)(q[:, 0], k[:, 0], v[:, 0], m),
    "twice": lambda q, k, v, m: func.vmap(func.vmap(lambda *t: attend(*t, is_causal=True)))(
        q.unsqueeze(2), k.unsqueeze(2), v.unsqueeze(2)
    ),
    "gradients": lambda q, k, v, m: func.vmap(gradients_of(attend))(q, k, v),
    "gradients with masks": lambda q, k, v, m: func.vmap(gradients_of(attend))(q, k, v, m),
    "gradients of all": lambda q, k, v, m: gradients_of(func.vmap(attend))(q, k, v),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("name", MAPPED)
def test_attention_of_each_sample(name, dtype):
    torch.manual_seed(0)
    tensors = [torch.randn(3, 2, 4, 6, 8, dtype=dtype) for _ in range(3)]
    tensors.append(torch.rand(3, 6, 6) < 0.7)
    got = MAPPED[name](*(t.to("xpu") for t in tensors))
    expected = MAPPED[name](*tensors)
    for ours, theirs in zip(
        *((t if isinstance(t, tuple) else (t,)) for t in (got, expected)), strict=True
    ):
        torch.testing.assert_close(ours.cpu(), theirs, rtol=1e-4, atol=1e-5)


def test_dropout_of_each_sample():
    q = torch.randn(2, 1, 2, 8, 8, device="xpu").expand(2, 3, 2, 8, 8)

    def dropped(t):
        return attend(t, t, t, dropout_p=0.5)

    out = func.vmap(dropped, in_dims=1, randomness="different")(q)
    assert not torch.equal(out[0], out[1])
    with pytest.raises(RuntimeError, match="randomness"):
        func.vmap(dropped, in_dims=1)(q)
    with pytest.raises(NotImplementedError, match="randomness='different'"):
        func.vmap(dropped, in_dims=1, randomness="same")(q)
