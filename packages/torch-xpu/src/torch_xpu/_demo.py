"""The adapter's act in the demonstration: a network trains on xpu as it does on the CPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def run(stage: Any) -> None:
    """Train a network, show the common memory pool, replay a graph."""
    import torch
    import xpu_runtime as xr

    stage.say(f"import torch, and torch.device('xpu') is {torch.xpu.get_device_name()}")
    train(stage, torch)
    share(stage, torch, xr)
    replay(stage, torch)


def train(stage: Any, torch: Any) -> None:
    """Train the same network on both devices, from the same weights."""
    torch.manual_seed(0)
    inputs, labels = torch.randn(64, 1, 28, 28), torch.randint(0, 10, (64,))

    def training_step(device: str) -> Callable[[], float]:
        torch.manual_seed(1)
        net = torch.nn.Sequential(
            torch.nn.Conv2d(1, 16, 3, padding=1),
            torch.nn.BatchNorm2d(16),
            torch.nn.GELU(),
            torch.nn.MaxPool2d(2),
            torch.nn.Flatten(),
            torch.nn.Linear(16 * 14 * 14, 10),
        ).to(device)
        optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
        x, y = inputs.to(device), labels.to(device)

        def step() -> float:
            loss = torch.nn.functional.cross_entropy(net(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            return loss.item()

        return step

    program = "PyTorch, convolutional net, batch 64"
    cpu, xpu = stage.compare_steps(program, training_step("cpu"), training_step("xpu"))
    close = abs(xpu - cpu) <= 0.02 * abs(cpu) + 1e-3
    stage.result("loss after 20 steps", f"xpu {xpu:.5f}, cpu {cpu:.5f}", close)


def share(stage: Any, torch: Any, xr: Any) -> None:
    """Show that PyTorch's memory statistics count what the runtime allocates from the common pool."""
    before = torch.xpu.memory_allocated()
    tensor, array = torch.empty(1 << 20, device="xpu"), xr.empty(1 << 20)
    stage.say(torch.xpu.memory_summary())
    grown = torch.xpu.memory_allocated() - before
    held = tensor.nbytes + array.nbytes
    stage.result(
        "a tensor and an array in one pool", f"{grown} of {held} bytes", grown >= tensor.nbytes
    )


def replay(stage: Any, torch: Any) -> None:
    """Replay a captured graph on new input."""
    x = torch.ones(1 << 16, device="xpu")
    (x * 2 + 1).relu()
    graph = torch.xpu.XPUGraph()
    with torch.xpu.graph(graph):
        y = (x * 2 + 1).relu()
    x.fill_(4)
    graph.replay()
    stage.result("a replayed graph", f"{y[0].item():g} of 9", bool((y == 9).all()))
