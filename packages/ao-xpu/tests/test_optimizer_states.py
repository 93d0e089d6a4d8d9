"""Optimizers of low-bit Adam on xpu: states, captured steps, schedulers, devices and memory."""

import copy
import io

import pytest
import torch
from optimizer_pairs import EVERY, SIZE, Pair, assert_moments_equal, gradient, uncompiled_steps
from torch import nn
from torchao.optim import AdamW4bit, AdamW8bit, AdamWFp8, _AdamW

from ao_xpu.training import optimizers


@pytest.fixture(autouse=True)
def uncompiled():
    with uncompiled_steps():
        yield


@pytest.mark.values
@pytest.mark.parametrize("kind", EVERY, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize(("source", "target"), [("xpu", "xpu"), ("cpu", "xpu"), ("xpu", "cpu")])
def test_state_dict(kind, source, target):
    """A run that is saved and loaded goes on with the same bits."""
    start = torch.randn(SIZE)
    whole = nn.Parameter(start.clone().to(source))
    optimizer = kind([whole], lr=0.01)
    whole.grad = gradient(0).to(source)
    optimizer.step()
    file = io.BytesIO()
    torch.save(optimizer.state_dict(), file)
    file.seek(0)
    loaded = nn.Parameter(whole.detach().clone().to(target))
    second = kind([loaded], lr=0.5)
    second.load_state_dict(torch.load(file, map_location=target))
    for p, o, device in ((whole, optimizer, source), (loaded, second, target)):
        p.grad = gradient(1).to(device)
        o.step()
    assert_moments_equal(second.state[loaded], optimizer.state[whole])
    torch.testing.assert_close(loaded.detach().cpu(), whole.detach().cpu(), rtol=1e-5, atol=2e-6)
    assert second.state[loaded]["step"].item() == 2


@pytest.mark.values
@pytest.mark.parametrize("kind", EVERY, ids=lambda kind: kind.__name__)
def test_step_is_captured(kind):
    """Each replay counts a step, and reads the learning rate that is then set."""
    start, grads = torch.randn(SIZE), [gradient(step).to("xpu") for step in range(4)]

    def trained(captured):
        p = nn.Parameter(start.clone().to("xpu"))
        p.grad = grads[0].clone()
        optimizer = kind([p], lr=0.01)
        optimizer.step()
        graph = torch.xpu.XPUGraph()
        if captured:
            with torch.xpu.graph(graph):
                optimizer.step()
        for grad, rate in zip(grads[1:], (0.01, 0.02, 0.03), strict=True):
            p.grad.copy_(grad)
            optimizer.param_groups[0]["lr"].fill_(rate)
            graph.replay() if captured else optimizer.step()
        return p.detach().cpu(), optimizer.state[p]

    (got, got_state), (expected, expected_state) = trained(True), trained(False)
    assert torch.equal(got, expected)
    assert_moments_equal(got_state, expected_state)
    assert got_state["step"].item() == 4


@pytest.mark.values
def test_replays_round_by_new_numbers():
    p = nn.Parameter(torch.ones(4096, dtype=torch.bfloat16, device="xpu"))
    p.grad = torch.ones_like(p)
    optimizer = AdamW8bit([p], weight_decay=0, bf16_stochastic_round=True)
    optimizer.step()
    graph = torch.xpu.XPUGraph()
    with torch.xpu.graph(graph):
        optimizer.step()
    seen = []
    for _ in range(2):
        p.data.fill_(1)
        graph.replay()
        seen.append(p.detach().cpu())
    assert not torch.equal(*seen)


@pytest.mark.values
def test_schedulers_change_the_rate():
    pair = Pair(AdamW8bit, torch.randn(SIZE), lr=0.1)
    schedulers = [torch.optim.lr_scheduler.CosineAnnealingLR(o, 5) for o in pair.optimizers]
    for step in range(4):
        pair.step(gradient(step))
        for scheduler in schedulers:
            scheduler.step()
        pair.check()
    got, expected = (float(o.param_groups[0]["lr"]) for o in pair.optimizers)
    assert got == pytest.approx(expected)


@pytest.mark.values
def test_parameters_of_two_devices():
    start = torch.randn(SIZE)
    both = [nn.Parameter(start.clone().to(device)) for device in ("cpu", "xpu")]
    optimizer = AdamW8bit(both)
    for step in range(2):
        for p in both:
            p.grad = gradient(step).to(p.device)
        optimizer.step()
    assert len(optimizer.param_groups[0]["params"]) == 2
    assert_moments_equal(optimizer.state[both[1]], optimizer.state[both[0]])
    torch.testing.assert_close(both[1].detach().cpu(), both[0].detach(), rtol=1e-5, atol=2e-6)


@pytest.mark.values
def test_closure_and_quantized_parameters():
    p = nn.Parameter(torch.randn(SIZE, device="xpu"))
    optimizer = AdamW8bit([p])

    def closure():
        optimizer.zero_grad()
        loss = p.square().sum()
        loss.backward()
        return loss

    first, second = optimizer.step(closure), optimizer.step(closure)
    assert second < first

    from torchao.prototype.quantized_training import Int8QuantizedTrainingLinearWeight as Int8Weight

    quantized = nn.Parameter(Int8Weight.from_float(torch.randn(SIZE, device="xpu")))
    optimizer = _AdamW([quantized], lr=0.1)
    before = quantized.dequantize()
    quantized.grad = torch.ones(SIZE, device="xpu")
    optimizer.step()
    assert ((quantized.dequantize() - before).mean().cpu() + 0.1).abs() < 0.02
    assert list(optimizers.unfused_steps()) == [
        "a parameter of class Int8QuantizedTrainingLinearWeight"
    ]
    optimizers._unfused.clear()


@pytest.mark.parametrize(("kind", "ratio"), [(AdamW8bit, 3.5), (AdamWFp8, 3.5), (AdamW4bit, 6.5)])
def test_memory_of_states(kind, ratio):
    p = nn.Parameter(torch.zeros(1 << 20, device="xpu"))
    p.grad = torch.ones_like(p)
    optimizer = kind([p])
    torch.xpu.synchronize()
    before = torch.xpu.memory_allocated()
    optimizer.step()
    assert 2 * 4 * p.numel() >= ratio * (torch.xpu.memory_allocated() - before)


def test_a_step_needs_no_compiler(monkeypatch):
    """The table of patches has replaced the step: it calls the kernel with compilation allowed."""
    updated, update = [], optimizers._update

    def record(optimizer, group, p):
        updated.append(p)
        update(optimizer, group, p)

    monkeypatch.setattr(optimizers, "_update", record)
    monkeypatch.setattr(torch, "compile", lambda *_, **__: pytest.fail("a step was compiled"))
    p = nn.Parameter(torch.ones(SIZE, device="xpu"))
    p.grad = torch.ones_like(p)
    with torch.compiler.set_stance("default"):
        AdamW8bit([p]).step()
    (only,) = updated
    assert only is p


def test_other_devices_take_the_stock_step():
    called = []
    stepped = optimizers.step(lambda self, closure=None: called.append(closure))
    optimizer = AdamW8bit([nn.Parameter(torch.ones(3))])
    stepped(optimizer, closure=print)
    assert called == [print]
    copy.deepcopy(optimizer)
