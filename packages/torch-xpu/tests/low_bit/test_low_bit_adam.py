"""torch_xpu::low_bit_adam_ beside the same formula on the CPU: formats, tables, and what it refuses."""

import pytest
import torch

low_bit_adam_ = torch.ops.torch_xpu.low_bit_adam_
E4M3 = torch.float8_e4m3fn
BETAS = (0.9, 0.99)


def tables(length, dtype=torch.float32):
    """Tables that are none of torchao's, for means and squares."""
    steps = torch.linspace(0, 1, length, dtype=torch.float64)
    return [(2 * steps - 1).pow(3).to(dtype), steps.pow(2).to(dtype)]


def nearest(x, table):
    """The code of the nearest number of the table; of two as near, the greater."""
    down = (torch.searchsorted(table, x, right=True) - 1).clamp(min=0)
    up = (down + 1).clamp(max=len(table) - 1)
    return torch.where(x - table[down] >= (table[up] - table[down]) * 0.5, up, down)


def stored(x, block, table):
    """Codes and scales of numbers."""
    x = x.reshape(-1, block)
    scale = x.abs().amax(1).clamp(min=1e-12)
    if table is None:
        scale = scale / 448
        return (x / scale[:, None]).to(E4M3).flatten(), scale
    codes = nearest(x / scale[:, None], table).flatten().to(torch.uint8)
    return (codes[::2] << 4 | codes[1::2] if len(table) == 16 else codes), scale


def loaded(codes, scale, table):
    """Numbers of codes and scales."""
    if table is None:
        x = codes.float()
    else:
        x = torch.stack([codes >> 4, codes & 15], 1).flatten() if len(table) == 16 else codes
        x = table[x.long()]
    return (x.reshape(len(scale), -1) * scale[:, None]).flatten()


class State:
    """A parameter with moments of one format, on the host."""

    def __init__(self, length, count, block, amsgrad=False):
        torch.manual_seed(count)
        self.block, self.count = block, 0
        self.tables = tables(length) if length else []
        self.p = torch.randn(count)
        signed = (True, False, False)[: 2 + amsgrad]
        moments = [torch.randn(count) if s else torch.rand(count) for s in signed]
        self.moments = [stored(x * 0.01, block, self.table(k)) for k, x in enumerate(moments)]

    def table(self, k):
        return self.tables[min(k, 1)] if self.tables else None

    def step(self, grad, decoupled):
        """The formula, as torchao has it."""
        self.count += 1
        m, v, *h = (loaded(*moment, self.table(k)) for k, moment in enumerate(self.moments))
        p, g = self.p, grad
        if decoupled:
            p = p - torch.tensor(0.1) * 0.01 * p
        else:
            g = g + 0.01 * p
        m, v = m.lerp(g, 1 - BETAS[0]), v.lerp(g.square(), 1 - BETAS[1])
        new = [m, v]
        if h:
            v = torch.maximum(h[0], v)
            new.append(v)
        count = torch.tensor(float(self.count))
        spread = v.sqrt() / (1 - BETAS[1] ** count).sqrt() + 1e-8
        self.p = p - 0.1 * (m / (1 - BETAS[0] ** count)) / spread
        self.moments = [stored(x, self.block, self.table(k)) for k, x in enumerate(new)]

    def on_xpu(self):
        codes, scales = ([t.to("xpu") for t in ts] for ts in zip(*self.moments, strict=True))
        return self.p.to("xpu"), codes, scales, [t.to("xpu") for t in self.tables]


def step(
    p, grad, codes, scales, tables, count=1.0, lr=0.1, decoupled=True, stochastic=False, **rest
):
    low_bit_adam_(
        p, grad, codes, scales, tables, torch.tensor(count, device="xpu"), torch.tensor(lr), *BETAS,
        0.01, 1e-8, decoupled, stochastic, **rest,
    )  # fmt: skip


@pytest.mark.values
@pytest.mark.parametrize("decoupled", [True, False])
@pytest.mark.parametrize("amsgrad", [True, False])
@pytest.mark.parametrize("length", [0, 16, 256])
@pytest.mark.parametrize("block", [2, 96, 256, 4096])
def test_any_table_and_block(length, block, amsgrad, decoupled):
    state = State(length, block * (3 if block > 1000 else 50), block, amsgrad)
    p, codes, scales, of_xpu = state.on_xpu()
    for count in (1, 2):
        grad = torch.randn(p.shape)
        step(p, grad.to("xpu"), codes, scales, of_xpu, count, decoupled=decoupled)
        state.step(grad, decoupled)
        for k, (code, scale) in enumerate(state.moments):
            ours = codes[k].cpu()
            if decoupled:
                assert torch.equal(scales[k].cpu(), scale)
                assert torch.equal(ours.view(torch.uint8), code.view(torch.uint8))
        torch.testing.assert_close(p.cpu(), state.p, rtol=1e-5, atol=1e-6)


@pytest.mark.values
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
def test_plain_moments_are_those_of_fused_adam(dtype):
    p = torch.randn(1000, 3, dtype=dtype, device="xpu")
    other = torch.nn.Parameter(p.clone())
    optimizer = torch.optim.AdamW([other], lr=0.1, betas=BETAS, weight_decay=0.01, fused=True)
    moments = [torch.zeros_like(p) for _ in range(2)]
    for count in range(1, 4):
        grad = torch.randn_like(p)
        step(p, grad, moments, [], [], float(count))
        other.grad = grad
        optimizer.step()
    rtol = 1e-5 if dtype == torch.float32 else 0.05
    torch.testing.assert_close(p, other.detach(), rtol=rtol, atol=rtol)


@pytest.mark.values
def test_written_tensors_count_their_versions():
    p, codes, scales, of_xpu = State(256, 512, 256).on_xpu()
    before = [t._version for t in (p, *codes)]
    step(p, torch.ones_like(p), codes, scales, of_xpu)
    assert all(t._version > v for t, v in zip((p, *codes), before, strict=True))
    view = torch.zeros(32, 64, device="xpu").t()[::2]
    moments = [torch.zeros(16, 64, device="xpu").t()[:, :16] for _ in range(2)]
    view = torch.zeros(16, 64, device="xpu").t()
    step(view, torch.ones(64, 16, device="xpu"), moments, [], [])
    assert (view != 0).all()
    assert (moments[0] != 0).all()


@pytest.mark.values
@pytest.mark.parametrize("length", [16, 256])
def test_limits_of_codes(length):
    """Numbers at, just above and just below the middles of torchao's tables and of others."""
    steps = torch.linspace(-1, 1, length)
    table = steps.sign() * steps.abs().pow(3)
    middles = (table[1:] + table[:-1]) / 2
    around = [middles, middles.nextafter(torch.tensor(2.0)), middles.nextafter(torch.tensor(-2.0))]
    block = torch.cat([*around, table])
    block = block[block.abs() > 1e-20]  # of smaller ones the distance to a number is that number
    block = torch.cat([block, torch.ones(1024 - len(block))])
    expected, scale = stored(block, 1024, table)
    assert scale.item() == 1
    p, codes = torch.zeros(1024, device="xpu"), torch.zeros_like(expected, device="xpu")
    scales, table = [torch.zeros(1, device="xpu") for _ in range(2)], table.to("xpu")
    # With beta1 = 0 the first moment equals the gradient.
    low_bit_adam_(
        p, block.to("xpu"), [codes, codes.clone()], scales, [table, table], torch.ones((), device="xpu"),
        torch.tensor(0.1), 0.0, 0.5, 0.0, 1e-8, True, False,
    )  # fmt: skip
    assert scales[0].item() == 1
    assert torch.equal(codes.cpu(), expected)


def refuse(message, change, error=RuntimeError):
    p, codes, scales, of_xpu = State(256, 512, 256).on_xpu()
    arguments = {
        "p": p,
        "grad": torch.ones_like(p),
        "codes": codes,
        "scales": scales,
        "tables": of_xpu,
    }
    arguments.update(change(arguments))
    with pytest.raises(error, match=message):
        step(**arguments)


def test_refusals():
    refuse("expected 2 moments", lambda a: {"codes": a["codes"][:1]})
    refuse("2 moments with 1 lists of scales", lambda a: {"scales": a["scales"][:1]})
    refuse("512 numbers with 3 scales", lambda a: {"scales": [torch.ones(3, device="xpu")] * 2})
    refuse("contiguous float tensors", lambda a: {"scales": [s.half() for s in a["scales"]]})
    refuse("256 or 16 floats", lambda a: {"tables": [t[:100] for t in a["tables"]]})
    refuse(
        "moments of 1024 numbers for a parameter of 512",
        lambda a: {"tables": [t[:16] for t in a["tables"]]},
    )
    refuse("without a table must be float8_e4m3fn", lambda a: {"tables": []})
    refuse("without scales must be floats", lambda a: {"tables": [], "scales": []})
    refuse("a gradient of \\[256\\]", lambda a: {"grad": torch.ones(256, device="xpu")})
    refuse("several types", lambda a: {"codes": [a["codes"][0], a["codes"][1].float()]})
    refuse("only bfloat16 is rounded", lambda a: {"stochastic": True})
    refuse("must be contiguous", lambda a: {"codes": [c.repeat(2)[::2] for c in a["codes"]]})
    refuse("one element", lambda a: {"lr": [0.1, 0.2]})
    refuse("(?i)device", lambda a: {"grad": a["grad"].cpu()})
    big = torch.ones(8192, device="xpu")
    with pytest.raises(RuntimeError, match="at most 4096 numbers, got 8192"):
        step(big, big, [big.to(E4M3)] * 2, [torch.ones(1, device="xpu")] * 2, [])
    ones = torch.ones(4, device="xpu")
    with pytest.raises(RuntimeError, match="single memory location"):
        step(ones[:1].expand(4), ones, [ones, ones], [], [])


def test_fake_tensors():
    with torch._subclasses.FakeTensorMode():
        p = torch.ones(8, device="xpu")
        assert step(p, p, [p, p], [], []) is None
