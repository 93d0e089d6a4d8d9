"""Common training loops of mixed precision: unchanged on xpu, with the scaler enabled and disabled."""

import copy
import io
from types import SimpleNamespace

import pytest
import torch
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from torch_xpu import _grad_scaler

# How programs choose: the type of autocast, or none. They scale gradients of f16 only.
PRECISIONS = {"f32": None, "bf16": torch.bfloat16, "f16": torch.float16}
STEPS = 3


class Training:
    """A model, its optimizer and scaler, and batches, as a script sets them up."""

    def __init__(self, device, dtype, optimizer=torch.optim.AdamW, **options):
        torch.manual_seed(0)
        self.device, self.dtype = device, dtype
        self.model = torch.nn.Sequential(
            torch.nn.Linear(8, 16), torch.nn.GELU(), torch.nn.Linear(16, 4)
        ).to(device)
        self.optimizer = optimizer(self.model.parameters(), lr=0.01, **options)
        self.scaler = self.new_scaler()
        self.batches = [
            (torch.randn(6, 8).to(device), torch.randint(0, 4, (6,)).to(device))
            for _ in range(STEPS)
        ]

    def new_scaler(self, of=torch.amp.GradScaler):
        return of(self.device, init_scale=256.0, enabled=self.dtype is torch.float16)

    def autocast(self):
        return torch.autocast(self.device, dtype=self.dtype, enabled=self.dtype is not None)

    def loss(self, x, y):
        with self.autocast():
            return functional.cross_entropy(self.model(x), y)


def plain(device, dtype):
    t = Training(device, dtype)
    for x, y in t.batches:
        t.optimizer.zero_grad(set_to_none=True)
        t.scaler.scale(t.loss(x, y)).backward()
        t.scaler.step(t.optimizer)
        t.scaler.update()
    return t.model


def clipping(device, dtype):
    t = Training(device, dtype)
    for x, y in t.batches:
        t.optimizer.zero_grad()
        t.scaler.scale(t.loss(x, y)).backward()
        t.scaler.unscale_(t.optimizer)
        torch.nn.utils.clip_grad_norm_(t.model.parameters(), 0.1)
        t.scaler.step(t.optimizer)
        t.scaler.update()
    return t.model


def accumulation(device, dtype):
    t = Training(device, dtype, torch.optim.SGD, momentum=0.9)
    for index, (x, y) in enumerate(t.batches * 2, 1):
        t.scaler.scale(t.loss(x, y) / 2).backward()
        if index % 2 == 0:
            t.scaler.unscale_(t.optimizer)
            torch.nn.utils.clip_grad_value_(t.model.parameters(), 0.05)
            t.scaler.step(t.optimizer)
            t.scaler.update()
            t.optimizer.zero_grad()
    return t.model


def gradient_penalty(device, dtype):
    t = Training(device, dtype)
    for x, y in t.batches:
        t.optimizer.zero_grad()
        loss = t.loss(x, y)
        scaled = torch.autograd.grad(t.scaler.scale(loss), t.model.parameters(), create_graph=True)
        inverse = 1.0 / t.scaler.get_scale()
        with t.autocast():
            penalty = sum((g * inverse).square().sum() for g in scaled).sqrt()
        t.scaler.scale(loss + 0.1 * penalty).backward()
        t.scaler.step(t.optimizer)
        t.scaler.update()
    return t.model


def two_optimizers(device, dtype):
    t = Training(device, dtype)
    first = torch.optim.SGD(t.model[0].parameters(), lr=0.05)
    second = torch.optim.AdamW(t.model[2].parameters(), lr=0.01)
    for x, y in t.batches:
        for optimizer in (first, second):
            optimizer.zero_grad()
        with t.autocast():
            out = t.model(x)
            losses = [functional.cross_entropy(out, y), out.float().square().mean()]
        t.scaler.scale(losses[0]).backward(retain_graph=True)
        t.scaler.scale(losses[1]).backward()
        t.scaler.unscale_(first)
        for optimizer in (first, second):
            t.scaler.step(optimizer)
        t.scaler.update()
    return t.model


def resumed(device, dtype):
    t = Training(device, dtype)
    for x, y in t.batches:
        t.optimizer.zero_grad()
        t.scaler.scale(t.loss(x, y)).backward()
        t.scaler.unscale_(t.optimizer)
        t.scaler.step(t.optimizer)
        t.scaler.update()
        file = io.BytesIO()
        parts = {"model": t.model, "optimizer": t.optimizer, "scaler": t.scaler}
        torch.save({name: part.state_dict() for name, part in parts.items()}, file)
        file.seek(0)
        saved = torch.load(file, map_location=device)
        t.scaler = t.new_scaler()
        if saved["scaler"]:
            t.scaler.load_state_dict(saved["scaler"])
        t.model.load_state_dict(saved["model"])
        t.optimizer.load_state_dict(saved["optimizer"])
    return t.model


def schedule(device, dtype):
    """The scheduler steps if the optimizer did; parts of the model are frozen or have no gradient."""
    t = Training(device, dtype, torch.optim.SGD)
    t.model[0].requires_grad_(False)
    t.optimizer.add_param_group({"params": [torch.nn.Parameter(torch.ones(3, device=device))]})
    scheduler = torch.optim.lr_scheduler.StepLR(t.optimizer, 1, 0.5)
    for x, y in t.batches:
        t.optimizer.zero_grad()
        t.scaler.scale(t.loss(x, y)).backward()
        before = t.scaler.get_scale()
        t.scaler.step(t.optimizer)
        t.scaler.update()
        if t.scaler.get_scale() >= before:
            scheduler.step()
    return t.model


def fused_optimizer(device, dtype):
    t = Training(device, dtype, fused=True)
    for x, y in t.batches:
        t.optimizer.zero_grad()
        t.scaler.scale(t.loss(x, y)).backward()
        t.scaler.unscale_(t.optimizer)
        torch.nn.utils.clip_grad_norm_(t.model.parameters(), 1.0)
        t.scaler.step(t.optimizer)
        t.scaler.update()
    return t.model


def recomputed(device, dtype):
    t = Training(device, dtype)
    for x, y in t.batches:
        t.optimizer.zero_grad()
        with t.autocast():
            out = t.model[2](checkpoint(t.model[:2], x, use_reentrant=False))
            loss = functional.cross_entropy(out, y)
        t.scaler.scale([loss])[0].backward()
        t.scaler.step(t.optimizer)
        t.scaler.update()
    return t.model


def sparse_gradients(device, dtype):
    t = Training(device, dtype)
    table = torch.nn.Embedding(10, 8, sparse=True).to(device)
    optimizer = torch.optim.SparseAdam(table.parameters(), lr=0.01)
    for _, y in t.batches:
        for each in (optimizer, t.optimizer):
            each.zero_grad()
        t.scaler.scale(t.loss(table(y), y)).backward()
        for each in (optimizer, t.optimizer):
            t.scaler.unscale_(each)
            t.scaler.step(each)
        t.scaler.update()
    return torch.nn.ModuleList([t.model, table])


class CountingScaler(torch.amp.GradScaler):
    """A subclass as trainers write them."""

    def unscale_(self, optimizer):
        self.unscaled = getattr(self, "unscaled", 0) + 1
        super().unscale_(optimizer)

    def __call__(self, loss, optimizer, parameters):
        self.scale(loss).backward()
        self.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        self.step(optimizer)
        self.update()


def subclassed(device, dtype):
    t = Training(device, dtype)
    scaler = copy.deepcopy(t.new_scaler(CountingScaler))
    for x, y in t.batches:
        t.optimizer.zero_grad()
        scaler(t.loss(x, y), t.optimizer, t.model.parameters())
    assert scaler.unscaled == STEPS
    return t.model


LOOPS = [
    plain,
    clipping,
    accumulation,
    gradient_penalty,
    two_optimizers,
    resumed,
    schedule,
    fused_optimizer,
    recomputed,
    sparse_gradients,
    subclassed,
]


@pytest.mark.values
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("loop", LOOPS)
def test_a_loop_trains_as_on_the_cpu(loop, precision):
    dtype = PRECISIONS[precision]
    expected, got = loop("cpu", dtype), loop("xpu", dtype)
    tolerance = 1e-5 if dtype is None else 4e-2  # Adam's steps are of 0.01, whatever the gradient
    for name, parameter in got.named_parameters():
        wanted = expected.get_parameter(name)
        assert parameter.device.type == "xpu"
        torch.testing.assert_close(parameter.cpu(), wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.values
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("loop", [clipping, two_optimizers, subclassed])
def test_a_device_without_f64(monkeypatch, loop, precision):
    expected = loop("xpu", PRECISIONS[precision])
    monkeypatch.setattr(_grad_scaler, "_lacks_f64", lambda device: device.type == "xpu")
    got = loop("xpu", PRECISIONS[precision])
    for a, b in zip(got.parameters(), expected.parameters(), strict=True):
        assert torch.equal(a, b)


@pytest.mark.parametrize("enabled", [False, True])
def test_sharded_scalers_on_a_device_without_f64(monkeypatch, enabled):
    from torch.distributed.fsdp.sharded_grad_scaler import ShardedGradScaler

    monkeypatch.setattr(_grad_scaler, "_lacks_f64", lambda device: device.type == "xpu")
    double = torch.Tensor.double
    wrong = SimpleNamespace(devices=[])
    monkeypatch.setattr(
        torch.Tensor, "double", lambda t: (wrong.devices.append(t.device.type), double(t))[1]
    )
    monkeypatch.setattr(torch.distributed, "all_reduce", lambda *_, **__: SimpleNamespace(wait=int))
    t = Training("xpu", torch.float16)
    scaler = ShardedGradScaler("xpu", enabled=enabled, process_group=None)
    x, y = t.batches[0]
    scaler.scale(t.loss(x, y)).backward()
    scaler.unscale_(t.optimizer)
    assert wrong.devices == (["cpu"] if enabled else [])
