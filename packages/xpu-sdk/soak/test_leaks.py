"""Memory stays level however long a program runs. Each in a process of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

LIMIT = 1800
pytestmark = [pytest.mark.memory(4), pytest.mark.timeout(LIMIT + 60)]

TRAINING = """
    import torch
    from resident import resident_megabytes

    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 16, 3), torch.nn.BatchNorm2d(16), torch.nn.ReLU(), torch.nn.Dropout(),
        torch.nn.MaxPool2d(2), torch.nn.Flatten(), torch.nn.Linear(16 * 7 * 7, 10),
    ).to("xpu")
    optimizer = torch.optim.AdamW(model.parameters())

    def step(images, labels):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        return loss

    for i in range(2300):
        images, labels = torch.randn(8, 3, 16, 16).to("xpu"), torch.randint(10, (8,)).to("xpu")
        loss = step(images, labels)
        if i % 10 == 0:
            loss.item()
        if i == 299:
            torch.xpu.synchronize()
            before, allocated = resident_megabytes(), torch.xpu.memory_allocated()
    torch.xpu.synchronize()
    print(resident_megabytes() - before, torch.xpu.memory_allocated() - allocated)
"""

PROGRAMS = """
    import jax, jax.numpy as jnp
    from resident import resident_megabytes

    x = jnp.arange(64.0).reshape(8, 8)

    def different(i):
        def f(x):
            y = jnp.tanh(x * (i + 0.5)) @ x
            return y.sum() if i % 2 else jnp.sort(y, axis=i % 4 // 2) + i
        return jax.jit(f)(x)

    for i in range(2300):
        different(i).block_until_ready()
        if i == 299:
            before = resident_megabytes()
    print(resident_megabytes() - before, 0)
"""

STREAMS = """
    import torch, xpu_runtime as xr
    from resident import resident_megabytes

    x = torch.ones(1000, device="xpu")

    def use(i):
        stream, event = torch.xpu.Stream(), torch.xpu.Event(enable_timing=bool(i % 2))
        with torch.xpu.stream(stream):
            x + 1
            event.record()
        event.wait(torch.xpu.current_stream())
        if i % 100 == 0:
            event.synchronize()
        own, other = xr.Stream(), xr.Event()
        other.record(own)
        if i % 3:
            other.synchronize()

    for i in range(11_000):
        use(i)
        if i == 999:
            torch.xpu.synchronize()
            before, allocated = resident_megabytes(), torch.xpu.memory_allocated()
    torch.xpu.synchronize()
    print(resident_megabytes() - before, torch.xpu.memory_allocated() - allocated)
"""


@pytest.mark.parametrize(
    ("program", "max_growth"),
    [
        pytest.param(TRAINING, 8, id="2,000 training steps"),
        pytest.param(PROGRAMS, 24, id="2,000 different jits"),
        pytest.param(STREAMS, 8, id="10,000 streams and events"),
    ],
)
def test_memory_is_level(child, program, max_growth):
    out = child(program, env={"PYTHONPATH": str(Path(__file__).parent)}, timeout=LIMIT).check().out
    growth, allocated = map(float, out.split())
    print(f"{growth:.1f} MB, {allocated:.0f} bytes on the device")
    assert growth < max_growth
    assert allocated == 0
