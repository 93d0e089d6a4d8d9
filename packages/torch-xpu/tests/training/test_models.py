"""Models as they are trained: five steps on xpu follow five steps on the CPU."""

import copy

import models
import pytest
import torch

STEPS = 5
pytestmark = [pytest.mark.values, pytest.mark.filterwarnings("ignore")]
each_model = pytest.mark.parametrize("model", models.MODELS, ids=lambda m: m.name)


def moved(inputs: dict, device: str) -> dict:
    return {k: v.to(device) if isinstance(v, torch.Tensor) else v for k, v in inputs.items()}


def wide(inputs: dict) -> dict:
    return {
        k: v.double() if torch.is_tensor(v) and v.is_floating_point() else v
        for k, v in inputs.items()
    }


def train(net: torch.nn.Module, inputs: dict, autocast: bool) -> list[float]:
    """The losses of some steps; dropout is off, as its draws are each device's own."""
    device = next(net.parameters()).device.type
    for module in net.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    net.train()
    # Not Adam: its first steps take the signs of gradients that are 0 but for rounding.
    optimizer = torch.optim.SGD(net.parameters(), lr=2e-3, momentum=0.9)
    losses = []
    for _ in range(STEPS):
        with torch.autocast(device, torch.bfloat16, enabled=autocast):
            loss = net(**inputs).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    return losses


def made(model: models.Model) -> tuple[torch.nn.Module, dict]:
    torch.manual_seed(3)
    net = model.make()
    for name in ("attention_dropout", "activation_dropout", "dropout", "layerdrop", "drop_prob"):
        for module in net.modules():
            if isinstance(getattr(module, name, None), float):
                setattr(module, name, 0.0)
    return net, model.inputs()


def assert_as_near(
    got: list[float], cpu: list[float], exact: list[float], tolerance: float
) -> None:
    """As near to what is exact as the CPU comes: rounding grows in training, most where batches are small."""
    own = max(abs(a - b) for a, b in zip(cpu, exact, strict=True))
    for step, (ours, expected) in enumerate(zip(got, exact, strict=True)):
        assert abs(ours - expected) <= tolerance * abs(expected) + 4 * own, (
            f"step {step}: {got} {cpu} {exact}"
        )


@each_model
def test_training_in_f32(model):
    net, inputs = made(model)
    exact = train(copy.deepcopy(net).double(), wide(inputs), autocast=False)
    got = train(copy.deepcopy(net).to("xpu"), moved(inputs, "xpu"), autocast=False)
    cpu = train(net, inputs, autocast=False)
    assert got[0] == pytest.approx(exact[0], rel=1e-5)
    assert got[-1] < got[0]
    assert_as_near(got, cpu, exact, 1e-4)


@each_model
def test_training_with_bf16_autocast(model):
    net, inputs = made(model)
    exact = train(copy.deepcopy(net), inputs, autocast=False)
    got = train(copy.deepcopy(net).to("xpu"), moved(inputs, "xpu"), autocast=True)
    cpu = train(net, inputs, autocast=True)
    assert_as_near(got, cpu, exact, 2e-2)


@each_model
def test_inference(model):
    net, inputs = made(model)
    net.eval()
    with torch.no_grad():
        expected = net(**inputs)
        got = copy.deepcopy(net).to("xpu")(**moved(inputs, "xpu"))
    for name in ("logits", "logits_per_image"):
        if name in expected:
            torch.testing.assert_close(got[name].cpu(), expected[name], rtol=1e-3, atol=1e-4)
