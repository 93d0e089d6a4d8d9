"""Nested tensors of the jagged layout: values and gradients beside the CPU."""

import pytest
import torch
import torch.nn.functional as F
from torch.nested._internal.nested_tensor import nested_from_padded

LENGTHS, WIDTH = (3, 5, 2, 1), 8
WEIGHT, BIAS = torch.linspace(-1, 1, 48).view(6, WIDTH), torch.linspace(1, 2, 6)


def nested(device, lengths=LENGTHS, dtype=torch.float32, seed=0, **options):
    generator = torch.Generator().manual_seed(seed)
    rows = [torch.randn(n, WIDTH, generator=generator).to(device, dtype) for n in lengths]
    return torch.nested.nested_tensor(rows, layout=torch.jagged, **options)


def parts(t):
    return [p.detach().cpu() for p in (t.unbind() if t.is_nested else [t])]


def results(function, device, dtype=torch.float32, differentiate=True):
    x = nested(device, dtype=dtype, requires_grad=differentiate)
    out = function(x)
    outs = out if isinstance(out, tuple) else (out,)
    assert all(t.device.type == device for t in outs)
    seen = [p for t in outs for p in parts(t)]
    if differentiate:
        sum((t.values() if t.is_nested else t).square().sum() for t in outs).backward()
        seen += parts(x.grad)
    return seen


def check(function, reference=None, **options):
    got = results(function, "xpu", **options)
    torch.testing.assert_close(got, results(reference or function, "cpu", **options))


def through_padding(x):
    padded = x.to_padded_tensor(0.0, output_size=(len(LENGTHS), max(LENGTHS), WIDTH))
    return nested_from_padded(padded.sin(), x.offsets(), sum_S=x.values().shape[0])


DIFFERENTIABLE = {
    "elementwise": lambda x: F.gelu(x).relu() + x.sin() * 2,
    "where": lambda x: torch.where(x > 0, x, torch.zeros_like(x)),
    "to_padded_tensor": lambda x: torch.nested.to_padded_tensor(x, 0.5),
    "to a longer tensor": lambda x: x.to_padded_tensor(-1.0, output_size=(4, 9, WIDTH)),
    "through padding": through_padding,
    "linear": lambda x: F.linear(x, WEIGHT.to(x.device), BIAS.to(x.device)),
    "matmul": lambda x: x @ WEIGHT.to(x.device).t(),
    "layer_norm": lambda x: F.layer_norm(x, (WIDTH,)),
    "rms_norm": lambda x: F.rms_norm(x, (WIDTH,)),
    "softmax": lambda x: F.softmax(x, -1),
    "ragged softmax": lambda x: F.softmax(x, 1),
    "sum": lambda x: x.sum(),
    "amax": lambda x: x.amax(1),
    "cat": lambda x: torch.cat([x, x], -1),
    "chunk": lambda x: x.chunk(2, -1),
    "heads": lambda x: x.unflatten(-1, (2, 4)).transpose(1, 2).sin().transpose(1, 2).flatten(2),
    "select": lambda x: (x[1], x.select(0, 2)),
    "float64": lambda x: x.double(),
    "unbind": lambda x: x.unbind(),
}


@pytest.mark.values
@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_with_gradients(name):
    check(DIFFERENTIABLE[name])


FORWARD = {
    "to a shorter tensor": lambda x: x.to_padded_tensor(-1.0, output_size=(4, 2, WIDTH)),
    "ragged sum": lambda x: x.sum(1),
    "ragged mean": lambda x: x.mean(1),
    "sum of rows": lambda x: x.sum(-1),
    "comparison": lambda x: (x > 0).to_padded_tensor(True),
    "integers": lambda x: (x * 10).long().to_padded_tensor(-7),
    "halves": lambda x: x.bfloat16().to_padded_tensor(0.5),
    "no width": lambda x: torch.nested.nested_tensor_from_jagged(x.values()[:, 0], x.offsets())
    .contiguous()
    .to_padded_tensor(0.0),
    "empty sequence": lambda x: torch.nested.nested_tensor_from_jagged(
        x.values(), torch.tensor([0, 0, 4, 4, 11], device=x.device)
    ).to_padded_tensor(3.0, output_size=(4, 7, WIDTH)),
    "narrow": lambda x: torch.nested.narrow(
        torch.arange(96.0, device=x.device).view(3, 4, 8), 1, torch.tensor([0, 1, 2], device=x.device),
        torch.tensor([3, 2, 2], device=x.device), layout=torch.jagged,
    ).sin(),
    "embedding": lambda x: F.embedding(
        torch.nested.nested_tensor_from_jagged((x.values()[:, 0] > 0).long(), x.offsets()),
        WEIGHT.to(x.device),
    ),
}  # fmt: skip


@pytest.mark.values
@pytest.mark.parametrize("name", FORWARD)
def test_forward(name):
    check(FORWARD[name], differentiate=False)


def heads(x):
    return x.unflatten(-1, (2, -1)).transpose(1, 2)


def attend(x, causal=False, other=None):
    q = heads(x)
    k = q * 1.5 if other is None else heads(other)
    return (
        F.scaled_dot_product_attention(q, k, k.cos(), is_causal=causal).transpose(1, 2).flatten(2)
    )


def attend_one_by_one(x, causal=False, other=None):
    """What attention of each sequence alone gives; the last query sees all keys."""
    outs = []
    for i, row in enumerate(x.unbind()):
        q = row.unflatten(-1, (2, -1)).transpose(0, 1)
        k = q * 1.5 if other is None else other[i].unflatten(-1, (2, -1)).transpose(0, 1)
        seen = torch.ones(q.size(1), k.size(1), dtype=torch.bool).tril(k.size(1) - q.size(1))
        out = F.scaled_dot_product_attention(q, k, k.cos(), attn_mask=seen if causal else None)
        outs.append(out.transpose(0, 1).flatten(1))
    return torch.nested.as_nested_tensor(outs, layout=torch.jagged)


@pytest.mark.values
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("causal", [False, True])
def test_attention(causal, dtype):
    check(lambda x: attend(x, causal), lambda x: attend_one_by_one(x, causal), dtype=dtype)


@pytest.mark.values
@pytest.mark.parametrize("causal", [False, True])
def test_attention_to_other_sequences(causal):
    def other(x):
        return nested(x.device, lengths=(4, 6, 2, 3), seed=1)

    check(lambda x: attend(x, causal, other(x)), lambda x: attend_one_by_one(x, causal, other(x)))


@pytest.mark.values
def test_attention_in_autocast():
    x = nested("xpu")
    with torch.autocast("xpu", dtype=torch.bfloat16):
        out = attend(x)
    assert out.dtype == torch.bfloat16
    torch.testing.assert_close(out.values().float(), attend(x).values(), rtol=2e-2, atol=2e-2)


@pytest.mark.values
def test_training():
    """A layer with attention, norm and residual over sequences, beside the layer for each alone."""

    def gradients(device):
        torch.manual_seed(0)
        project, norm = torch.nn.Linear(WIDTH, 3 * WIDTH), torch.nn.LayerNorm(WIDTH)
        project.to(device), norm.to(device)
        x = nested(device)
        for rows in [x] if device == "xpu" else [t[None] for t in x.unbind()]:
            q, k, v = (heads(t) for t in project(rows).chunk(3, -1))
            y = norm(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2) + rows)
            values = y.values() if y.is_nested else y
            values.square().mul(torch.linspace(0, 1, WIDTH, device=device)).sum().backward()
        return [p.grad.cpu() for p in (*project.parameters(), *norm.parameters())]

    torch.testing.assert_close(gradients("xpu"), gradients("cpu"), rtol=1e-4, atol=1e-4)


def test_refusals():
    x, offsets = torch.ones(4, 2, device="xpu"), torch.tensor([0, 4], device="xpu")
    with pytest.raises(RuntimeError, match="two dimensions"):
        torch.ops.aten._jagged_to_padded_dense_forward(x[0], [offsets], [4])
    with pytest.raises(NotImplementedError, match="one jagged dimension"):
        torch.ops.aten._jagged_to_padded_dense_forward(x, [offsets, offsets], [4, 4])
    with pytest.raises(RuntimeError, match="same device"):
        torch.ops.aten._jagged_to_padded_dense_forward(x, [offsets.cpu()], [4])
    with pytest.raises(RuntimeError, match="expected 2 offsets, got 3"):
        torch.ops.aten._padded_dense_to_jagged_forward(x[None], [torch.zeros(3, device="xpu")], 4)


@pytest.mark.values
def test_offsets_out_of_range():
    x, offsets = torch.ones(4, 2, device="xpu"), torch.tensor([0, 9], device="xpu")
    with pytest.raises(RuntimeError, match="offset 9 is out of range for 4 rows"):
        torch.ops.aten._jagged_to_padded_dense_forward(x, [offsets], [4]).cpu()


@pytest.mark.values
def test_more_rows_than_a_device_takes_work_groups(child):
    """As on a device that takes 3 in the slower dimensions of a launch."""
    child(
        """
        import torch
        values, offsets = torch.arange(40.0).reshape(20, 2), torch.tensor([0, 7, 8, 20])
        padded = torch.ops.aten._jagged_to_padded_dense_forward(
            values.to("xpu"), [offsets.to("xpu")], [12], -1.0)
        expected = torch.full((3, 12, 2), -1.0)
        for i in range(3):
            rows = values[offsets[i] : offsets[i + 1]]
            expected[i, : len(rows)] = rows
        assert torch.equal(padded.cpu(), expected)
        back = torch.ops.aten._padded_dense_to_jagged_forward(padded, [offsets.to("xpu")], 20)
        assert torch.equal(back.cpu(), values)
        """,
        env={"XPU_TEST_WORK_GROUPS": "3"},
    ).check()
