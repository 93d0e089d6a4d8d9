"""TorchAO: the same linear layers in 16, 8 and 4 bits, one row at a time."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from .commands.demo import Stage, time_steps

WIDTH, DEPTH = 2048, 6
# The minimum ratio of signal to noise, in decibels, of random weights.
MIN_RATIO = {"int8": 30.0, "int4": 12.0}


def run(stage: Stage) -> None:
    """Quantize layers to int8 and int4: bytes, replayed steps per second, and signal to noise."""
    if find_spec("ao_xpu") is None:
        stage.say("Not installed: ao-xpu. pip install xpu-sdk[ao]")
        return
    import torch
    from ao_xpu import report
    from torchao.quantization import Int4WeightOnlyConfig, Int8WeightOnlyConfig, quantize_

    stage.say("quantize_(model, config): linear layers store 8 or 4 bits a number")
    configs = {"int8": Int8WeightOnlyConfig(), "int4": Int4WeightOnlyConfig(group_size=64)}
    expected = None
    for name in ("bf16", *configs):
        torch.manual_seed(0)
        layers = (torch.nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(DEPTH))
        model = torch.nn.Sequential(*layers).to("xpu", torch.bfloat16).requires_grad_(False)
        x = torch.randn(1, WIDTH).to("xpu", torch.bfloat16)
        if name in configs:
            quantize_(model, configs[name])
        megabytes = sum(layer.bytes_after for layer in report(model)) / 1e6
        speed, result, is_right = replay(torch, model, x)
        got = f"{megabytes:.1f} MB, {speed:.0f} steps/s replayed"
        if expected is None:
            expected = result
        else:
            noise = (result - expected).norm() / expected.norm()
            ratio = -20 * noise.log10().item()
            got, is_right = f"{got}, {ratio:.0f} dB", is_right and ratio > MIN_RATIO[name]
        stage.result(f"{DEPTH} linear layers, {name}", got, is_right)


def replay(torch: Any, model: Any, x: Any) -> tuple[float, Any, bool]:
    """Return steps per second of a graph, its result, and whether eager mode has the same result."""
    eager = model(x)
    graph = torch.xpu.XPUGraph()
    with torch.xpu.graph(graph):
        y = model(x)

    def step() -> float:
        graph.replay()
        return y[0, 0].item()

    times, _ = time_steps(step, 20)
    return 1 / times.steady, y.float().cpu(), torch.equal(y, eager)
