"""Attention: against the formula on the CPU, forward and backward, and what memory it takes."""

import itertools

import pytest
import torch
import torch.nn.functional as F
from torch._subclasses import FakeTensorMode
from torch.nn.attention import SDPBackend, sdpa_kernel

pytestmark = pytest.mark.values

TOLERANCES = {torch.float32: 1e-5, torch.float16: 4e-3, torch.bfloat16: 3e-2, torch.float64: 1e-12}
CASES = {
    "plain": {},
    "causal": {"is_causal": True},
    "scaled": {"scale": 0.3},
    "bool mask": {"attn_mask": torch.rand(2, 1, 33, 40) < 0.7},
    "added mask": {"attn_mask": torch.randn(33, 40)},
}


def both(operands, dtype, **options):
    """Results and gradients on xpu, and in f64 on the CPU."""
    torch.manual_seed(1)
    results = []
    for device, type_ in (("xpu", dtype), ("cpu", torch.float64)):
        leaves = [t.to(dtype).to(device, type_).requires_grad_() for t in operands]
        mask = options.get("attn_mask")
        if mask is not None:
            mask = mask.to(device) if mask.dtype == torch.bool else mask.to(dtype).to(device, type_)
        out = F.scaled_dot_product_attention(*leaves, **{**options, "attn_mask": mask})
        torch.manual_seed(2)
        grad = torch.randn(out.shape, dtype=torch.float64).to(dtype).to(device, type_)
        results.append([out, *torch.autograd.grad(out, leaves, grad)])
    for ours, theirs in zip(*results, strict=True):
        assert ours.dtype == dtype
        assert ours.shape == theirs.shape
        error = (ours.detach().cpu().double() - theirs.detach()).abs().max()
        assert error <= TOLERANCES[dtype] * max(theirs.abs().max().item(), 1)


@pytest.mark.parametrize("dtype", TOLERANCES, ids=str)
@pytest.mark.parametrize("case", CASES)
def test_against_the_formula(case, dtype):
    torch.manual_seed(0)
    shapes = ((2, 3, 33, 16), (2, 3, 40, 16), (2, 3, 40, 24))
    both([torch.randn(s) for s in shapes], dtype, **CASES[case])


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("head", [64, 256])
def test_grouped_queries(head, dtype):
    torch.manual_seed(0)
    shapes = ((1, 6, 70, head), (1, 2, 70, head), (1, 2, 70, head))
    both([torch.randn(s) for s in shapes], dtype, is_causal=True, enable_gqa=True)


def test_one_head_without_a_dimension_for_it():
    torch.manual_seed(0)
    both([torch.randn(4, 9, 8) for _ in range(3)], torch.float32, attn_mask=torch.randn(4, 9, 9))


def test_projections_keep_their_layout():
    x = torch.randn(2, 10, 3, 4, 8).to("xpu")
    q, k, v = x.permute(2, 0, 3, 1, 4)
    out = F.scaled_dot_product_attention(q, k, v)
    assert out.transpose(1, 2).is_contiguous()
    both([t.cpu() for t in (q, k, v)], torch.float32)


@pytest.mark.parametrize("values", [16, 8])
@pytest.mark.parametrize("order", list(itertools.permutations(range(4))), ids=str)
def test_layouts_are_those_that_compilers_expect(order, values):
    """In the shapes of fake tensors, results and gradients have the strides of real ones."""

    def attend(*tensors):
        tensors = [t.detach().requires_grad_() for t in tensors]
        out = F.scaled_dot_product_attention(*tensors)
        return [out, *torch.autograd.grad(out, tensors, torch.ones_like(out))]

    sizes = (2, 3, 5)
    back = [order.index(d) for d in range(4)]
    inputs = []
    for last in (16, 16, values):
        whole = torch.randn([(*sizes, 2 * last)[d] for d in order], device="xpu").permute(back)
        inputs.append(whole[..., :last])
    real = attend(*inputs)
    with FakeTensorMode() as mode:
        fake = attend(*map(mode.from_tensor, inputs))
    for one, other in zip(real, fake, strict=True):
        assert one.stride() == other.stride()
    expected = attend(*(t.cpu() for t in inputs))
    for one, other in zip(real, expected, strict=True):
        torch.testing.assert_close(one.cpu(), other, rtol=1e-4, atol=1e-5)


def test_a_mask_with_a_gradient():
    q = torch.randn(1, 2, 5, 8)
    grads = []
    for device in ("xpu", "cpu"):
        mask = torch.ones(5, 5, device=device, requires_grad=True)
        out = F.scaled_dot_product_attention(*[q.to(device)] * 3, attn_mask=mask)
        grads += torch.autograd.grad(out.square().sum(), mask)
    torch.testing.assert_close(grads[0].cpu(), grads[1])


def test_dropout_is_the_same_backward():
    """Dropped weights are those of both passes: the result is linear in v."""
    torch.manual_seed(0)
    q, k, v = (torch.randn(1, 2, 50, 16).to("xpu") for _ in range(3))
    v.requires_grad_()
    out = F.scaled_dot_product_attention(q, k, v, dropout_p=0.4)
    grad = torch.randn(out.shape).to("xpu")
    (of_v,) = torch.autograd.grad(out, v, grad)
    torch.testing.assert_close((of_v * v).sum(), (out * grad).sum(), rtol=1e-4, atol=1e-3)
    torch.manual_seed(0)
    ones = torch.ones_like(v)
    sums = F.scaled_dot_product_attention(q, k, ones, dropout_p=0.4)
    assert 0.8 < sums.mean().item() < 1.2
    assert sums.std().item() > 0.01


def test_backends_are_chosen_as_asked():
    q = torch.ones(1, 2, 5, 8, device="xpu")
    choose = torch._fused_sdp_choice
    assert choose(q, q, q) == SDPBackend.OVERRIDEABLE.value
    with sdpa_kernel(SDPBackend.MATH):
        assert choose(q, q, q) == SDPBackend.MATH.value
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION), pytest.raises(RuntimeError, match="No available"):
        F.scaled_dot_product_attention(*[q.double()] * 3)


@pytest.mark.onednn  # plain products of this size would take a minute
def test_memory_is_that_of_inputs_and_results():
    shape = (1, 2, 8192, 64)
    torch.xpu.empty_cache()
    q, k, v = (torch.zeros(shape, device="xpu", requires_grad=True) for _ in range(3))
    one = q.numel() * q.element_size()
    before = torch.xpu.memory_allocated()
    torch.xpu.reset_peak_memory_stats()
    out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    torch.xpu.synchronize()
    assert torch.xpu.max_memory_allocated() - before <= 1.2 * 4 * one - 3 * one
    grads = torch.autograd.grad(out, (q, k, v), torch.zeros_like(out))
    torch.xpu.synchronize()
    assert len(grads) == 3
    assert torch.xpu.max_memory_allocated() - before <= 1.2 * 8 * one - 3 * one


@pytest.mark.parametrize("heads", [2, 3])
def test_one_sequence_as_modules_lay_it_out(heads):
    """[length, batch 1 * heads, size], turned: the batch's stride is as small as the length's."""
    both([torch.randn(9, heads, 8).transpose(0, 1)[None] for _ in range(3)], torch.float32)


FLASH = torch.ops.aten._flash_attention_forward
EFFICIENT = torch.ops.aten._efficient_attention_forward


@pytest.mark.parametrize("kind", ["flash", "efficient", "efficient from the end", "efficient bias"])
@pytest.mark.parametrize("causal", [False, True])
def test_positions_before_heads(kind, causal):
    """[batch, positions, heads, size]: the last query sees all keys, or the first one the first."""
    torch.manual_seed(0)
    shapes = ((2, 7, 3, 16), (2, 9, 3, 16), (2, 9, 3, 16))
    host = [torch.randn(s, requires_grad=True) for s in shapes]
    q, k, v = (t.detach().to("xpu").requires_grad_() for t in host)
    bias = torch.randn(2, 3, 7, 9)
    mask = torch.ones(7, 9).tril(2 if kind in ("flash", "efficient from the end") else 0)
    mask = torch.zeros(7, 9).masked_fill(mask == 0, -torch.inf) if causal else torch.zeros(7, 9)
    if kind == "flash":
        out, logsumexp, *_ = FLASH(q, k, v, None, None, 7, 9, 0.0, causal, False)
    else:
        added = bias.to("xpu") if kind == "efficient bias" else None
        which = (2 if kind == "efficient from the end" else 1) if causal else 0
        out, logsumexp, *_ = EFFICIENT(q, k, v, added, None, None, 7, 9, 0.0, which, True)
        assert out.is_contiguous()  # as the shape function for compiled code says
    if kind == "efficient bias":
        mask = mask + bias
    a, b, c = (t.transpose(1, 2) for t in host)
    scores = a @ b.mT / 4 + mask
    expected = (scores.softmax(-1) @ c).transpose(1, 2)
    torch.testing.assert_close(out.cpu(), expected, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(
        logsumexp[:, :, :7].cpu(), scores.logsumexp(-1), rtol=1e-4, atol=1e-5
    )
    weights = torch.randn(expected.shape)
    ours = torch.autograd.grad(out, (q, k, v), weights.to("xpu"))
    theirs = torch.autograd.grad(expected, host, weights)
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one.cpu(), other, rtol=1e-4, atol=1e-5)


LENGTHS_Q, LENGTHS_K = (3, 1, 6), (4, 5, 2)


def starts(lengths, device):
    return torch.tensor([0, *lengths], device=device).cumsum(0).int()


def packed(kind, q, k, v, causal, dropout=0.0):
    device = q.device
    if device.type == "cpu":  # each sequence by itself
        outs = []
        parts = q.split(LENGTHS_Q), k.split(LENGTHS_K), v.split(LENGTHS_K)
        for each in zip(*parts, strict=True):
            rows = [t.transpose(0, 1) for t in each]
            queries, keys = len(each[0]), len(each[1])
            shift = keys - queries if kind == "flash" else 0
            mask = torch.ones(queries, keys, dtype=torch.bool).tril(shift)
            out = F.scaled_dot_product_attention(*rows, attn_mask=mask if causal else None)
            # A query that sees no key gives zeros.
            out = out.where(mask.any(1, keepdim=True), 0) if causal else out
            outs.append(out.transpose(0, 1))
        return torch.cat(outs)
    seqs = starts(LENGTHS_Q, device), starts(LENGTHS_K, device), max(LENGTHS_Q), max(LENGTHS_K)
    if kind == "flash":
        return FLASH(q, k, v, *seqs, dropout, causal, False)[0]
    return EFFICIENT(q[None], k[None], v[None], None, *seqs, dropout, int(causal), True)[0][0]


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("kind", ["flash", "efficient"])
def test_packed_sequences(kind, causal):
    torch.manual_seed(0)
    shapes = (sum(LENGTHS_Q), 2, 8), (sum(LENGTHS_K), 2, 8), (sum(LENGTHS_K), 2, 8)
    results = []
    for device in ("xpu", "cpu"):
        torch.manual_seed(0)
        leaves = [torch.randn(s).to(device).requires_grad_() for s in shapes]
        out = packed(kind, *leaves, causal)
        grad = torch.linspace(-1, 1, out.numel()).view(out.shape).to(device)
        results.append([out, *torch.autograd.grad(out, leaves, grad)])
    for ours, theirs in zip(*results, strict=True):
        torch.testing.assert_close(ours.cpu(), theirs, rtol=1e-4, atol=1e-5)


def test_varlen_attn():
    from torch.nn.attention.varlen import varlen_attn

    torch.manual_seed(0)
    q, k = torch.randn(10, 2, 8), torch.randn(11, 2, 8)
    seqs = starts(LENGTHS_Q, "xpu"), starts(LENGTHS_K, "xpu"), max(LENGTHS_Q), max(LENGTHS_K)
    out = varlen_attn(q.to("xpu"), k.to("xpu"), k.to("xpu"), *seqs, window_size=(-1, 0))
    torch.testing.assert_close(out.cpu(), packed("flash", q, k, k, True), rtol=1e-4, atol=1e-5)


def test_packed_sequences_must_be_said_in_full():
    t = torch.randn(10, 2, 8, device="xpu")
    begin = starts(LENGTHS_Q, "xpu")
    with pytest.raises(RuntimeError, match="cumulative lengths"):
        FLASH(t, t, t, begin, None, 6, 6, 0.0, False, False)
    with pytest.raises(RuntimeError, match="as many sequences"):
        FLASH(t, t, t, begin, begin[:2], 6, 6, 0.0, False, False)
