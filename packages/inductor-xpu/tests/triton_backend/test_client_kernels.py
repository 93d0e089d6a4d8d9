"""Kernels of other packages, unchanged: those of liger-kernel, with gradients."""

import pytest
import torch
import torch.nn.functional as F

pytest.importorskip("liger_kernel")

from liger_kernel.transformers import functional as liger

pytestmark = [pytest.mark.values, pytest.mark.filterwarnings("ignore")]


def randn(*shape):
    return torch.randn(shape, device="xpu")


def rms_norm(x, w):
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * w


def rotated(q, cosine, sine):
    low, high = q.chunk(2, -1)
    return q * cosine[:, None] + torch.cat([-high, low], -1) * sine[:, None]


def positions(length, depth):
    frequencies = 1 / 10000 ** (torch.arange(0, depth, 2, device="xpu") / depth)
    angles = torch.arange(length, device="xpu")[:, None] * torch.cat([frequencies, frequencies])
    return angles.cos()[None], angles.sin()[None]


def divergence(p, q):
    """Jensen and Shannon's, of logarithms."""
    middle = ((p.exp() + q.exp()) / 2).log()
    terms = (F.kl_div(middle, x, reduction="batchmean", log_target=True) for x in (p, q))
    return sum(terms) / 2


TARGET = torch.arange(64) * 37 % 1000
# liger's function, PyTorch's, and inputs that have gradients.
CASES = {
    "rms norm": (
        lambda x, w: liger.liger_rms_norm(x, w, 1e-6),
        rms_norm,
        lambda: (randn(4, 32, 256), randn(256)),
    ),
    "rms norm of a sum": (
        lambda x, y, w: liger.liger_fused_add_rms_norm(x, y, w, 1e-6)[0],
        lambda x, y, w: rms_norm(x + y, w),
        lambda: (randn(4, 8, 128), randn(4, 8, 128), randn(128)),
    ),
    "layer norm": (
        lambda x, w, b: liger.liger_layer_norm(x, w, b, 1e-5),
        lambda x, w, b: F.layer_norm(x, (256,), w, b),
        lambda: (randn(4, 32, 256), randn(256), randn(256)),
    ),
    "group norm": (
        lambda x, w, b: liger.liger_group_norm(x, w, b, 8, 4, 1e-5),
        lambda x, w, b: F.group_norm(x, 4, w, b),
        lambda: (randn(4, 8, 64), randn(8), randn(8)),
    ),
    "swiglu": (
        liger.liger_swiglu,
        lambda a, b: F.silu(a) * b,
        lambda: (randn(4, 32, 256), randn(4, 32, 256)),
    ),
    "geglu": (
        liger.liger_geglu,
        lambda a, b: F.gelu(a, approximate="tanh") * b,
        lambda: (randn(4, 32, 256), randn(4, 32, 256)),
    ),
    "softmax": (liger.liger_softmax, lambda x: F.softmax(x, -1), lambda: (randn(8, 100),)),
    "cross entropy": (
        lambda x: liger.liger_cross_entropy(x, TARGET.to("xpu"), label_smoothing=0.1),
        lambda x: F.cross_entropy(x, TARGET.to("xpu"), label_smoothing=0.1),
        lambda: (randn(64, 1000),),
    ),
    "cross entropy of a product": (
        lambda x, w: liger.liger_fused_linear_cross_entropy(x, w, TARGET.to("xpu")),
        lambda x, w: F.cross_entropy(x @ w.t(), TARGET.to("xpu")),
        lambda: (randn(64, 128), randn(1000, 128) * 0.1),
    ),
    "divergence": (
        liger.liger_jsd,
        divergence,
        lambda: (F.log_softmax(randn(32, 200), -1), F.log_softmax(randn(32, 200), -1)),
    ),
    "rotary embedding": (
        lambda q: liger.liger_rope(q, q[:, :2].clone(), *positions(16, 32))[0],
        lambda q: rotated(q, *positions(16, 32)),
        lambda: (randn(2, 4, 16, 32),),
    ),
    "dynamic tanh": (
        liger.liger_dyt,
        lambda x, a, g, b: g * torch.tanh(a * x) + b,
        lambda: (randn(4, 8, 128), randn(1), randn(128), randn(128)),
    ),
}


def with_gradients(function, inputs, count):
    given = [x.detach().clone().requires_grad_() for x in inputs]
    out = function(*given)
    torch.manual_seed(1)
    return out, *torch.autograd.grad(out, given[:count], torch.randn_like(out))


@pytest.mark.parametrize("name", CASES)
def test_liger_kernel(name):
    torch.manual_seed(0)
    ours, expected, inputs = CASES[name]
    given = inputs()
    # liger's divergence has no gradient of its target.
    count = 1 if name == "divergence" else len(given)
    for got, its in zip(
        with_gradients(ours, given, count), with_gradients(expected, given, count), strict=True
    ):
        torch.testing.assert_close(got, its, rtol=1e-3, atol=1e-3)


def test_a_language_model_with_kernels_of_liger():
    transformers = pytest.importorskip("transformers")
    from liger_kernel.transformers import apply_liger_kernel_to_llama

    config = transformers.LlamaConfig(
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        vocab_size=200,
    )
    ids = torch.randint(0, 200, (2, 17), device="xpu")

    def gradients(change):
        torch.manual_seed(0)
        model = transformers.LlamaForCausalLM(config).to("xpu")
        change(model)
        loss = model(input_ids=ids, labels=ids).loss
        return loss, *torch.autograd.grad(loss, list(model.parameters()))

    plain = gradients(lambda model: None)
    changed = gradients(lambda model: apply_liger_kernel_to_llama(model=model))
    for got, its in zip(changed, plain, strict=True):
        torch.testing.assert_close(got, its, rtol=1e-3, atol=1e-3)
