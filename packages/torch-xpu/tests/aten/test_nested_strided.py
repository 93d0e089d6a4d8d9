"""Nested tensors of the strided layout, and the encoder that makes them in inference, beside the CPU."""

import pytest
import torch
import torch.nn.functional as F

pytestmark = pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors:UserWarning")

WEIGHT, BIAS = torch.linspace(-1, 1, 48).view(6, 8), torch.linspace(1, 2, 6)


def nested(device, lengths=(3, 5, 1), dtype=torch.float32, **options):
    generator = torch.Generator().manual_seed(0)
    rows = [torch.randn(n, 8, generator=generator).to(device, dtype) for n in lengths]
    return torch.nested.nested_tensor(rows, layout=torch.strided, **options)


def parts(t):
    return [p.detach().cpu() for p in (t.unbind() if t.is_nested else [t])]


def results(function, device, differentiate):
    x = nested(device, requires_grad=differentiate)
    out = function(x)
    outs = out if isinstance(out, tuple) else (out,)
    assert all(t.device.type == device for t in outs)
    seen = [p for t in outs for p in parts(t)]
    if differentiate:
        dense = [t.to_padded_tensor(0.0) if t.is_nested else t for t in outs]
        sum((t * t.cos()).sum() for t in dense).backward()
        seen += parts(x.grad)
    return seen


def heads(x):
    return x.view(3, -1, 2, 4).transpose(1, 2).contiguous()


def from_mask(x):
    keep = torch.arange(5, device=x.device) < torch.tensor([[3], [5], [1]], device=x.device)
    return torch._nested_tensor_from_mask(x.to_padded_tensor(0.0), keep)


DIFFERENTIABLE = {
    "to_padded_tensor": lambda x: x.to_padded_tensor(0.5),
    "to a longer tensor": lambda x: x.to_padded_tensor(-1.0, output_size=(3, 7, 9)),
    "unbind": lambda x: x.unbind(),
    "clone": lambda x: x.clone(),
    "add": lambda x: x + x * 2,
    "sub, div": lambda x: (x - x * x) / 3,
    "relu": lambda x: x.relu(),
    "gelu": F.gelu,
    "silu": F.silu,
    "neg, abs": lambda x: -x.abs(),
    "linear": lambda x: F.linear(x, WEIGHT.to(x.device), BIAS.to(x.device)),
    "matmul": lambda x: torch.matmul(x, x.transpose(1, 2)),
    "bmm": lambda x: torch.bmm(x.transpose(1, 2), x),
    "softmax": lambda x: x.softmax(-1),
    "layer_norm": lambda x: F.layer_norm(
        x, (8,), torch.linspace(0, 1, 8, device=x.device), torch.ones(8, device=x.device)
    ),
    "select": lambda x: x[1],
    "heads": heads,
    "attention": lambda x: F.scaled_dot_product_attention(*[heads(x)] * 3),
    "float64": lambda x: x.double(),
    "from padded": lambda x: torch._nested_from_padded(x.to_padded_tensor(0.0), x._nested_tensor_size()),
}  # fmt: skip


@pytest.mark.values
@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_with_gradients(name):
    function = DIFFERENTIABLE[name]
    got, expected = results(function, "xpu", True), results(function, "cpu", True)
    torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-4)


FORWARD = {
    "comparison": lambda x: x > 0,
    "masked_fill": lambda x: x.masked_fill(x > 0, 7.0),
    "fill_": lambda x: x.clone().fill_(3.0),
    "ones_like": torch.ones_like,
    "chunk": lambda x: x.chunk(2, -1),
    "cat": lambda x: torch.cat([x, x]),
    "halves": lambda x: x.half().float(),
    "copy_": lambda x: torch.zeros_like(x).copy_(x),
    "sin, tanh": lambda x: x.sin().tanh(),
    "from mask": from_mask,
}  # fmt: skip


@pytest.mark.values
@pytest.mark.parametrize("name", FORWARD)
def test_forward(name):
    function = FORWARD[name]
    torch.testing.assert_close(results(function, "xpu", False), results(function, "cpu", False))


@pytest.mark.values
def test_attention_in_inference():
    def out(device):
        with torch.inference_mode():
            x = heads(nested(device))
            return parts(F.scaled_dot_product_attention(x, x, x))

    torch.testing.assert_close(out("xpu"), out("cpu"))


@pytest.mark.values
def test_copies_between_devices():
    x = nested("cpu")
    there = x.to("xpu")
    assert there.is_nested
    assert there.device.type == "xpu"
    torch.testing.assert_close(parts(there), parts(x))
    assert there.cpu().device.type == "cpu"
    assert "device='xpu:0'" in repr(there)


def test_what_no_accelerator_has_is_refused():
    with pytest.raises(NotImplementedError, match=r"aten::sum\.dim_IntList"):
        nested("xpu").sum(-1, keepdim=True)
    with pytest.raises(RuntimeError, match="expected nested tensors of size 4 in dimension 2"):
        F.layer_norm(nested("xpu"), (4,), torch.ones(4, device="xpu"), torch.ones(4, device="xpu"))


@pytest.mark.values
@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("final_norm", [False, True])
def test_encoder_with_a_padding_mask(norm_first, activation, final_norm):
    """In evaluation its fast path makes a nested tensor of what is not padding."""

    def encode(device):
        torch.manual_seed(0)
        layer = torch.nn.TransformerEncoderLayer(
            8, 2, 16, activation=activation, norm_first=norm_first, batch_first=True
        )
        norm = torch.nn.LayerNorm(8) if final_norm else None
        net = torch.nn.TransformerEncoder(layer, 2, norm, enable_nested_tensor=not norm_first)
        net = net.to(device).eval()
        x, padding = torch.randn(3, 5, 8), torch.arange(5) >= torch.tensor([[3], [5], [1]])
        with torch.inference_mode():
            return net(x.to(device), src_key_padding_mask=padding.to(device)).cpu()

    torch.testing.assert_close(encode("xpu"), encode("cpu"), rtol=1e-4, atol=1e-5)
