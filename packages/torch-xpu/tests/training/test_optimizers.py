"""Every optimizer of PyTorch on xpu beside the CPU: one by one, for-each and fused."""

import copy

import pytest
import torch
from torch.testing._internal.common_optimizers import OptimizerInfo, optim_db

from torch_xpu import _grad_scaler

pytestmark = pytest.mark.filterwarnings("ignore")

FORMS = {"single": {"foreach": False}, "foreach": {"foreach": True}, "fused": {"fused": True}}


def cases():
    """The samples of every optimizer in each form it has."""
    for info in optim_db:
        for number, sample in enumerate(info.optim_inputs_func(device="xpu")):
            options = sample.kwargs
            # Those bring parameters of their own, or need some that are no leaves of autograd.
            if "params" in options or options.get("differentiable"):
                continue
            for form in ("single", *info.supported_impls):
                rate_refused = isinstance(options.get("lr"), torch.Tensor) and form == "foreach"
                if form not in FORMS or (rate_refused and not options.get("capturable")):
                    continue
                chosen = (
                    FORMS[form] if form != "single" or "foreach" in info.supported_impls else {}
                )
                yield pytest.param(
                    info, options, chosen, id=f"{info.optim_cls.__name__}-{number}-{form}"
                )


def model(seed: int) -> torch.nn.Module:
    torch.manual_seed(seed)
    return torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3))


def trained(info: OptimizerInfo, device: str, options: dict, steps: int = 4) -> list[torch.Tensor]:
    # LBFGS goes 20 times around in a step and makes large of small differences.
    dtype = torch.float64 if info.optim_cls is torch.optim.LBFGS else torch.float32
    net, x = model(3), torch.linspace(-1, 1, 30).reshape(5, 6).to(device, dtype)
    if info.only_supports_sparse_grads:
        torch.manual_seed(3)
        net, x = torch.nn.Embedding(7, 3, sparse=True), torch.tensor([1, 4, 4, 6], device=device)
    net.to(device, dtype)
    parameters = [p for p in net.parameters() if p.ndim == 2 or info.optim_cls.__name__ != "Muon"]
    optimizer = info.optim_cls(parameters, **options)

    def closure():
        optimizer.zero_grad()
        loss = net(x).square().sum()
        # What is maximized has a maximum: numbers without limit have no digits in common.
        loss = -loss if options.get("maximize") else loss
        loss.backward()
        return loss

    for _ in range(steps):
        optimizer.step(closure) if info.step_requires_closure else (closure(), optimizer.step())
    return [p.detach().cpu() for p in parameters]


@pytest.mark.values
@pytest.mark.parametrize(("info", "options", "form"), list(cases()))
def test_as_on_the_cpu(info, options, form):
    options = copy.deepcopy(options)
    expected = trained(info, "cpu", {k: v for k, v in options.items() if k != "capturable"})
    got = trained(info, "xpu", {**options, **form})
    for ours, theirs in zip(got, expected, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=2e-4, atol=2e-5)


def test_every_optimizer_has_a_case():
    covered = {case.values[0].optim_cls for case in cases()}
    assert covered == {info.optim_cls for info in optim_db}


@pytest.mark.values
@pytest.mark.parametrize("name", ["AdamW", "SGD", "Adagrad"])
def test_fused_step_is_left_out_when_gradients_overflow(name):
    net = model(1).to("xpu")
    before = [p.detach().clone() for p in net.parameters()]
    optimizer = getattr(torch.optim, name)(net.parameters(), lr=0.1, fused=True)
    scaler = torch.amp.GradScaler("xpu", init_scale=4.0, growth_interval=1)
    scaler.scale(net(torch.ones(2, 6, device="xpu")).sum() * float("inf")).backward()
    scaler.step(optimizer)
    scaler.update()
    assert scaler.get_scale() == 2.0
    for p, old in zip(net.parameters(), before, strict=True):
        assert torch.equal(p.detach().cpu(), old.cpu())


@pytest.mark.values
@pytest.mark.parametrize("lacks_f64", [False, True], ids=["f64", "no f64"])
def test_scaler_unscales_and_grows(monkeypatch, lacks_f64):
    net = model(1).to("xpu")
    monkeypatch.setattr(_grad_scaler, "_lacks_f64", lambda device: lacks_f64)
    other = model(1)
    scaler = torch.amp.GradScaler("xpu", init_scale=256.0, growth_interval=1)
    for device, module in (("xpu", net), ("cpu", other)):
        optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
        loss = module(torch.ones(2, 6, device=device)).square().sum()
        if device == "cpu":
            loss.backward()
            optimizer.step()
        else:
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
    assert scaler.get_scale() == 512.0
    for ours, theirs in zip(net.parameters(), other.parameters(), strict=True):
        torch.testing.assert_close(ours.detach().cpu(), theirs.detach(), rtol=1e-5, atol=1e-6)


def test_scaler_builds_what_this_device_has():
    """Virtual GPUs without 64-bit floats refuse kernels that use them."""
    net = model(1).to("xpu")
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("xpu")
    scaler.scale(net(torch.ones(2, 6, device="xpu")).sum()).backward()
    scaler.unscale_(optimizer)
    torch.xpu.synchronize()
    assert scaler._scale.device.type == "xpu"
