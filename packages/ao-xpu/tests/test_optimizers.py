"""Steps of low-bit Adam on xpu beside torchao's own, run uncompiled on the CPU."""

import pytest
import torch
from optimizer_pairs import EVERY, QUANTIZED, SIZE, Pair, gradient, uncompiled_steps
from torch import nn
from torchao.optim import AdamW4bit, AdamW8bit, AdamWFp8, _AdamW, adam

from ao_xpu.training import optimizers


@pytest.fixture(autouse=True)
def uncompiled():
    with uncompiled_steps():
        yield


@pytest.mark.values
@pytest.mark.parametrize("kind", EVERY, ids=lambda kind: kind.__name__)
def test_moments_have_the_same_bits(kind):
    pair = Pair(kind, torch.randn(SIZE), lr=0.01, betas=(0.9, 0.99))
    for step in range(6):
        pair.step(gradient(step))
        pair.check()


@pytest.mark.values
@pytest.mark.parametrize("kind", EVERY, ids=lambda kind: kind.__name__)
def test_amsgrad(kind):
    """Stock torchao has amsgrad for unquantized moments alone; the others are checked by their formula."""
    pair = Pair(kind, torch.randn(SIZE), lr=0.01, betas=(0.9, 0.5), amsgrad=True)
    p, optimizer = pair.xpu, pair.optimizers[1]
    for step in range(3):
        if kind is _AdamW:
            pair.step(gradient(step))
            pair.check()
            continue
        before = optimizer.state[p]["max_exp_avg_sq"].dequantize() if step else torch.zeros_like(p)
        p.grad = (gradient(step) / 10**step).to("xpu")
        optimizer.step()
        state = optimizer.state[p]
        expected = torch.maximum(before, state["exp_avg_sq"].dequantize())
        error = (state["max_exp_avg_sq"].dequantize() - expected).abs().max() / expected.max()
        assert error < (0.1 if "4bit" in kind.__name__ else 0.05)


@pytest.mark.values
@pytest.mark.parametrize("kind", QUANTIZED[::2], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("betas", [(0.3, 0.5), (0.0, 0.0)])
def test_betas_below_a_half(kind, betas):
    pair = Pair(kind, torch.randn(SIZE), betas=betas)
    for step in range(3):
        pair.step(gradient(step))
        pair.check()


@pytest.mark.values
@pytest.mark.parametrize("kind", QUANTIZED[::2], ids=lambda kind: kind.__name__)
def test_gradients_at_the_edges(kind):
    grad = gradient(0)
    grad[0] = 0
    grad[2] = 1e-30
    grad[4, :3] = torch.tensor([torch.inf, -torch.inf, 1])
    grad[8, 5] = torch.nan
    grad[12] = 3e38
    grad[16] = torch.linspace(-1, 1, SIZE[1])
    pair = Pair(kind, torch.randn(SIZE))
    for _ in range(3):
        pair.step(grad)
        pair.check()


def net(seed=0):
    torch.manual_seed(seed)
    return nn.Sequential(
        nn.Linear(32, 128), nn.GELU(), nn.Linear(128, 64), nn.GELU(), nn.Linear(64, 4)
    )


def losses(kind, device, steps=50, **options):
    model = net().to(device)
    optimizer = kind(model.parameters(), lr=3e-3, **options)
    torch.manual_seed(1)
    x = torch.randn(64, 32)
    wanted = torch.stack([x[:, :8].sum(1), x.norm(dim=1), x[:, 0] * x[:, 1], x.amax(1)], 1)
    x, wanted = x.to(device), wanted.to(device)
    seen = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), wanted)
        loss.backward()
        optimizer.step()
        seen.append(loss.detach().cpu())
    return torch.stack(seen)


@pytest.mark.values
@pytest.mark.parametrize("kind", EVERY, ids=lambda kind: kind.__name__)
def test_losses_of_50_steps(kind):
    got, expected = losses(kind, "xpu"), losses(kind, "cpu")
    assert expected[-1] < expected[0] / 2
    torch.testing.assert_close(
        got, expected, rtol=2e-2 if "4bit" in kind.__name__ else 5e-3, atol=1e-3
    )


@pytest.mark.values
@pytest.mark.parametrize("kind", QUANTIZED[::2], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_narrow_parameters(kind, dtype):
    pair = Pair(kind, torch.randn(SIZE, dtype=dtype))
    for step in range(3):
        pair.step(gradient(step).clamp(-1e4, 1e4).to(dtype))
        pair.check(rtol=0.01, atol=1e-3)


@pytest.mark.values
@pytest.mark.parametrize("kind", EVERY, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("size", [(64, 128), (70, 66)])
def test_stochastic_rounding_draws_torchaos_numbers(kind, size):
    """The same seed gives the numbers of torchao's formula on xpu."""
    start = torch.randn(size, dtype=torch.bfloat16, device="xpu")
    grad = gradient(0, size).bfloat16().to("xpu")
    fused, other = nn.Parameter(start.clone()), nn.Parameter(start.clone())
    optimizer = kind([fused], bf16_stochastic_round=True)
    fused.grad = grad
    torch.manual_seed(5)
    optimizer.step()
    state = kind([other], bf16_stochastic_round=True)
    moments = [state._new_buffer(other, signed) for signed in (True, False)]
    numbers = [torch.tensor(x, device="xpu") for x in (1.0, 1e-3)]
    decay = optimizer.param_groups[0]["weight_decay"]
    torch.manual_seed(5)
    adam.single_param_adam(
        other.detach(), grad, numbers[0], *moments, None, numbers[1], 0.9, 0.999, decay, 1e-8,
        kind.__name__.startswith(("AdamW", "_")), True,
    )  # fmt: skip
    assert (fused != other).sum().item() <= 4  # an f32 may differ in its last bit
    assert not torch.equal(fused, start)


@pytest.mark.values
def test_stochastic_rounding_is_unbiased():
    p = nn.Parameter(torch.ones(1 << 16, dtype=torch.bfloat16, device="xpu"))
    optimizer = AdamW8bit([p], lr=1e-3, weight_decay=0, bf16_stochastic_round=True)
    p.grad = torch.ones_like(p)
    optimizer.step()
    assert p.detach().unique().numel() == 2
    assert abs(p.detach().float().mean().item() - 0.999) < 5e-5


@pytest.mark.values
@pytest.mark.parametrize("kind", [AdamW8bit, AdamW4bit, AdamWFp8, _AdamW], ids=lambda k: k.__name__)
def test_parameters_and_gradients_of_other_layouts(kind):
    for start in (
        torch.randn(128, 64).t(),
        torch.randn(16, 8, 8, 8).to(memory_format=torch.channels_last),
        torch.randn(64, 256)[:, ::2],
    ):
        pair = Pair(kind, start)
        # clone() of a view that is not dense makes it dense.
        pair.xpu.data = (
            start.to("xpu")
            if start.is_contiguous()
            else start.to("xpu").as_strided(start.size(), start.to("xpu").stride())
        )
        for step in range(2):
            grad = gradient(step, start.shape)
            spread = torch.stack([grad, grad], -1).to("xpu")[..., 0]
            assert not spread.is_contiguous()
            pair.step(grad, spread)
            pair.check()


@pytest.mark.values
def test_small_and_odd_parameters_are_not_quantized():
    for size in ((10,), (63, 65), (), (4097,)):
        pair = Pair(AdamW8bit, torch.randn(size), amsgrad=True)
        for step in range(3):
            pair.step(gradient(step, size))
            pair.check()
        assert type(pair.states[0]["exp_avg"]) is torch.Tensor


@pytest.mark.values
@pytest.mark.parametrize("kind", [AdamW8bit, AdamW4bit, AdamWFp8], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("block", [30, 128, 1000, 2048])
def test_block_sizes(kind, block):
    pair = Pair(kind, torch.randn(block * 5 if block > 900 else block * 150), block_size=block)
    for step in range(2):
        pair.step(gradient(step, pair.cpu.shape))
        pair.check()
    assert pair.states[0]["exp_avg"].block_size == block


@pytest.mark.values
def test_a_block_too_large_is_named():
    pair = Pair(AdamW8bit, torch.randn(8192), block_size=8192)
    pair.step(gradient(0, (8192,)))
    pair.check()
    assert optimizers.unfused_steps() == {"blocks of more than 4096 numbers": 1}
    optimizers._unfused.clear()


@pytest.mark.values
def test_empty_parameters_and_missing_gradients():
    empty, idle = (nn.Parameter(torch.ones(n, device="xpu")) for n in (0, 5000))
    optimizer = AdamW8bit([empty, idle])
    empty.grad = torch.ones_like(empty)
    optimizer.step()
    assert idle not in optimizer.state
    assert torch.equal(idle.cpu(), torch.ones(5000))


def test_refusals_are_torchaos():
    p = nn.Parameter(torch.ones(4096, device="xpu"))
    optimizer = AdamW8bit([p])
    p.grad = torch.ones(4096, device="xpu")
    optimizer.param_groups[0]["lr"] = 0.1
    with pytest.raises(RuntimeError, match="lr was changed to a non-Tensor object"):
        optimizer.step()
    table = nn.Embedding(64, 64, sparse=True, device="xpu")
    table(torch.tensor([1, 2], device="xpu")).sum().backward()
    with pytest.raises(RuntimeError, match="Sparse gradient is not supported"):
        AdamW8bit(table.parameters()).step()


@pytest.mark.parametrize("kind", QUANTIZED)
def test_the_default_type_may_be_bf16(kind):
    """Scales are of f32 nevertheless, so that a step is one kernel."""
    parameter = nn.Parameter(torch.ones(SIZE, dtype=torch.bfloat16, device="xpu"))
    optimizer = kind([parameter])
    torch.set_default_dtype(torch.bfloat16)
    try:
        with uncompiled_steps():
            for _ in range(2):
                parameter.grad = torch.ones_like(parameter)
                optimizer.step()
    finally:
        torch.set_default_dtype(torch.float32)
    state = optimizer.state[parameter]
    assert state["exp_avg"].scale.dtype == state["exp_avg_sq"].scale.dtype == torch.float32
